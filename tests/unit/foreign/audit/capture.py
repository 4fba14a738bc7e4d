"""Capture the cases again: `sudo python tests/unit/foreign/audit/capture.py FOLDER`.

Each run prints all formats at once, and each format becomes a separate case. The files of a run are in the folder in
which fio is started, so the output contains no paths of this machine. The label of each case is in runs.toml.
"""

import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

LIMIT_S = 60.0


@dataclass(frozen=True)
class Run:
    """A command and its preparation.

    `formats`: the formats to save as NAME.txt, NAME-terse.txt and NAME.json.
    """

    name: str
    place: str
    command: str
    before: str = ""
    formats: Sequence[str] = ("normal",)
    kill_after_s: float | None = None


LAY = "fio --name=lay --filename=f --rw=write --bs=1m --size=128m --refill_buffers --end_fsync=1 >/dev/null"
LAY_LARGE = LAY.replace("128m", "640m")
COOL = "sync; echo 3 > /proc/sys/vm/drop_caches"
CLEAN = "rm -f f *.0 *.1 *.2 *.3"


def runs() -> tuple[Run, ...]:
    """Return the runs listed in cases/runs.toml."""
    text = (Path(__file__).parent / "cases" / "runs.toml").read_text(encoding="utf-8")
    known = {field.name for field in fields(Run)}
    tables = tomllib.loads(text)["run"]
    return tuple(Run(**{key: value for key, value in table.items() if key in known}) for table in tables)


def main(folder: Path) -> None:
    """Capture all runs into the folder."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch, ExitStack() as stack:
        places = {name: stack.enter_context(make(Path(scratch))) for name, make in PLACES.items()}
        for run in runs():
            _capture(run, places[run.place], folder)


def _capture(run: Run, place: Path, folder: Path) -> None:
    before = run.before.replace("LAYLARGE", LAY_LARGE).replace("LAY", LAY).replace("COOL", COOL)
    _shell(f"{CLEAN}; {before}".rstrip("; "), place)
    words = [*shlex.split(run.command), f"--output-format={','.join(run.formats)}", "--eta=never"]
    print(run.name, flush=True)
    output = _fio(words, place, run.kill_after_s)
    for name, text in _parts(output, run.formats):
        suffix = {"normal": ".txt", "terse": "-terse.txt"}.get(name, ".json")
        head = f"$ {run.command}\n" if suffix != ".json" else ""
        (folder / f"{run.name}{suffix}").write_text(head + text, encoding="utf-8")


def _parts(output: str, formats: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Split the output by format.

    fio prints the terse lines first, followed by JSON and normal output in either order.
    """
    lines = output.splitlines(keepends=True)
    terse = [line for line in lines if line.count(";") > 20]
    rest = "".join(line for line in lines if line.count(";") <= 20)
    start, end = rest.find('{\n  "fio version"'), rest.rfind("}\n") + 2
    has_json = any(name.startswith("json") for name in formats)
    for name in formats:
        if name == "terse":
            yield name, "".join(terse)
        elif name.startswith("json"):
            yield name, rest[start:end]
        else:
            yield name, rest[:start] + rest[end:] if has_json else rest


def _fio(words: list[str], place: Path, kill_after_s: float | None) -> str:
    with subprocess.Popen(words, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            output, _ = process.communicate(timeout=kill_after_s or LIMIT_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            output, _ = process.communicate(timeout=LIMIT_S)
    return output


def _shell(command: str, place: Path) -> None:
    subprocess.run(["bash", "-c", command], cwd=place, check=True, timeout=LIMIT_S)


@contextmanager
def _folder(scratch: Path) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(dir=scratch))
    yield path


@contextmanager
def _mounted(scratch: Path, *words: str) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(dir=scratch))
    subprocess.run([*words, str(path)], check=True, timeout=LIMIT_S)
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True, timeout=LIMIT_S)


@contextmanager
def _loop(scratch: Path, *, direct: bool) -> Iterator[str]:
    image = scratch / f"image-{direct}"
    subprocess.run(["truncate", "-s", "1G", str(image)], check=True, timeout=LIMIT_S)
    made = ["losetup", "-f", "--show", f"--direct-io={'on' if direct else 'off'}", str(image)]
    device = subprocess.run(made, check=True, timeout=LIMIT_S, capture_output=True, text=True).stdout.strip()
    try:
        yield device
    finally:
        subprocess.run(["losetup", "-d", device], check=True, timeout=LIMIT_S)


@contextmanager
def _on_loop(scratch: Path, make: str, options: str, *, direct: bool) -> Iterator[Path]:
    inner = Path(tempfile.mkdtemp(dir=scratch))
    with _loop(inner, direct=direct) as device:
        subprocess.run([*make.split(), device], check=True, timeout=LIMIT_S, capture_output=True)
        with _mounted(scratch, "mount", "-o", options, device) as path:
            yield path


@contextmanager
def _union(scratch: Path) -> Iterator[Path]:
    branch = Path(tempfile.mkdtemp(dir=scratch))
    with _mounted(scratch, "mergerfs", "-o", "cache.files=off", str(branch)) as path:
        yield path


PLACES = {
    "ext4": _folder,
    "tmpfs": lambda scratch: _mounted(scratch, "mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs"),
    "btrfs": lambda scratch: _on_loop(scratch, "mkfs.btrfs -q", "compress=zstd:3", direct=True),
    "loop": lambda scratch: _on_loop(scratch, "mkfs.ext4 -q", "noatime", direct=False),
    "loop-direct": lambda scratch: _on_loop(scratch, "mkfs.ext4 -q", "noatime", direct=True),
    "mergerfs": _union,
}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
