"""Damaged run directories: no value in their files may cause a traceback, a hang or a control character on the screen.

    python -m tests.fuzz.run_directories [COUNT] [SEED] [RUN]

This makes COUNT damaged copies (default: 300) of RUN, or of a run that it generates. It passes each copy to all
commands that read runs, and prints the number of copies. At the first failure, it saves the damaged copy in the current
folder and exits with 1. The same seed always yields the same copies.
"""

import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from tests.unit.results.compare.making import make_run

from poolproof.cli.main import FAULT_EXIT_CODE, main
from poolproof.devices.loop import UndoLoop
from poolproof.provision.journal import Journal
from poolproof.results.runs.directory import RunDirectory
from poolproof.steps import Step
from poolproof.undos import UndoMount, UndoPrograms, UndoTree

_LIMIT_S = 20
_FILES = ("run.json", "trials.jsonl", "journal.jsonl")
_TEXTS = (
    "", "\x1b]0;x\x07", "\u202eb", "../../../etc/passwd", "/dev/null", "--help", "a\nb", "=1+1", "%s", "{}", "🦆" * 9,
    "a" * 70_000, "\x00", "<script>alert(1)</script>", "one'; drop table trials", "read_p99", "sound", "healthy",
)  # fmt: skip
_RAW = ("1e308", "-1e308", "1e400", "NaN", "-Infinity", "-1", "0", "5e-324", "9" * 400, str(2**63), "0.1", "true")
_RAW_VALUES = (*_RAW, "null", "[]", "{}", '"\\ud800"', "[" * 300 + "]" * 300, '{"a":' * 300 + "1" + "}" * 300)
_CONTROLS = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F))} - {"\n", "\t", "\r"}

Node = tuple[Any, Any]
"""A container in a JSON document, and the key or index of one of its values."""


def damage(run: Path, chance: random.Random) -> list[str]:
    """Change one to three values, lines or bytes in the files of `run`. Return a description of each change."""
    return [chance.choice(_DAMAGES)(run, chance) for _ in range(chance.randint(1, 3))]


def _value(run: Path, chance: random.Random) -> str:
    path = _chosen(run, chance)
    lines = path.read_text(errors="replace").splitlines()
    if not lines:
        return f"{path.name}: empty"
    whole = path.suffix == ".json"
    number = 0 if whole else chance.randrange(len(lines))
    try:
        tree = json.loads("\n".join(lines) if whole else lines[number])
    except (ValueError, RecursionError):
        return f"{path.name}: no longer JSON"
    nodes = list(nodes_of(tree))
    if not nodes:
        return f"{path.name}: no values"
    parent, key = chance.choice(nodes)
    how = chance.choice(("raw", "raw", "text", "removed", "moved", "added"))
    raw = ""
    if how == "raw":
        raw = chance.choice(_RAW_VALUES)
        parent[key] = "HOLE"
    elif how == "text":
        parent[key] = chance.choice(_TEXTS)
    elif how == "removed":
        del parent[key]
    elif how == "moved":
        other, at = chance.choice(nodes)
        parent[key] = json.loads(json.dumps(other[at]))
    else:
        _add(parent, chance)
    text = json.dumps(tree).replace('"HOLE"', raw)
    lines = [text] if whole else [*lines[:number], text, *lines[number + 1 :]]
    path.write_text("\n".join(lines) + "\n", errors="surrogatepass")
    return f"{path.name}:{number + 1}: {key} {how} {raw[:60]}"


def _add(parent: Any, chance: random.Random) -> None:
    if isinstance(parent, dict):
        parent[chance.choice(_TEXTS)] = chance.choice(_TEXTS)
    elif isinstance(parent, list):
        parent.extend(parent[:50] * 20)


def nodes_of(tree: object) -> Iterator[Node]:
    """Yield each value in a JSON document, as its container and key."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield from ((node, key) for key in node)
            waiting.extend(node.values())
        elif isinstance(node, list):
            yield from ((node, index) for index in range(len(node)))
            waiting.extend(node)


def _lines(run: Path, chance: random.Random) -> str:
    path = _chosen(run, chance)
    lines = path.read_bytes().splitlines(keepends=True)
    if not lines:
        return f"{path.name}: empty"
    at = chance.randrange(len(lines))
    how = chance.choice(("doubled", "removed", "swapped", "cut"))
    if how == "doubled":
        lines[at:at] = [lines[at]] * chance.choice((1, 2, 50))
    elif how == "removed":
        del lines[at]
    elif how == "swapped":
        chance.shuffle(lines)
    else:
        lines[at] = lines[at][: chance.randrange(len(lines[at]))]
    path.write_bytes(b"".join(lines))
    return f"{path.name}:{at + 1}: line {how}"


def _bytes(run: Path, chance: random.Random) -> str:
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and path.stat().st_size < 1 << 22]
    path = chance.choice(files)
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 20))):
        if data:
            data[chance.randrange(len(data))] = chance.randrange(256)
    path.write_bytes(data)
    return f"{path.relative_to(run)}: bytes changed"


def _gone(run: Path, chance: random.Random) -> str:
    path = chance.choice([path for path in sorted(run.rglob("*")) if path.is_file()])
    path.unlink()
    path.touch() if chance.random() < 0.5 else None
    return f"{path.relative_to(run)}: removed or empty"


def _chosen(run: Path, chance: random.Random) -> Path:
    files = [run / name for name in _FILES if (run / name).exists()]
    return chance.choice(files or [path for path in run.rglob("*") if path.is_file()])


_DAMAGES: tuple[Callable[[Path, random.Random], str], ...] = (_value, _value, _value, _value, _lines, _bytes, _gone)


def commands(run: Path, scratch: Path) -> tuple[tuple[str, ...], ...]:
    """Return the commands that read a run.

    `clean` is among them, because the run has created nothing that it could remove.
    """
    out = str(scratch / "out")
    return (
        ("show", str(run)),
        ("show", str(run), "--json"),
        ("rank", str(run)),
        ("rank", str(run), "--json"),
        ("compare", str(run), str(run)),
        ("compare", str(run), str(run), "--json"),
        ("runs", str(run.parent)),
        ("runs", str(run.parent), "--json"),
        ("query", str(run.parent), "select * from trials"),
        ("export", str(run), "--format", "csv", "--out", out + ".csv"),
        ("export", str(run), "--format", "markdown"),
        ("report", str(run), "--out", out + ".html"),
        ("watch", str(run)),
        ("audit", str(run)),
        ("clean", str(run)),
    )


def _leave_changes(run: RunDirectory) -> None:
    """Write a journal with changes that were not undone. None of the things that it names exist."""
    journal, state = Journal(run.journal_path), run.record().state_dir
    undos = (
        UndoTree(state),
        UndoMount(f"{state}/mnt/one"),
        UndoPrograms(("fio",), f"{state}/"),
        UndoLoop(99, f"{state}/a.img"),
    )
    for undo in undos:
        journal.record(Step("change", ("true",), undo))


def problem(words: tuple[str, ...]) -> str:
    """Run a command in this process. Return what is wrong with its exit or its output, or an empty string."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["poolproof", *words]
    code: object = 0
    signal.alarm(_LIMIT_S)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        sys.argv = before
    if code == FAULT_EXIT_CODE:
        return err.getvalue() or out.getvalue()[-500:]
    found = _CONTROLS & set(out.getvalue() + err.getvalue())
    return f"control characters in the output: {sorted(map(ord, found))}" if found else ""


def _script_in(page: Path) -> str:
    """Return a message if a string from the run became a script in the page."""
    injected = page.exists() and "<script>alert(1)" in page.read_text(errors="replace")
    return "a text of the run is a script of the report" if injected else ""


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"the command took longer than {_LIMIT_S} s")


def _main() -> int:
    count, seed = (int(value) for value in (*sys.argv[1:3], *("300", "1")[len(sys.argv[1:3]) :]))
    begun, chance, done, failures = time.monotonic(), random.Random(seed), 0, 0
    signal.signal(signal.SIGALRM, _too_long)
    os.environ |= {"NO_COLOR": "1", "COLUMNS": "100"}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
        if len(sys.argv) > 3:
            base = Path(sys.argv[3])
        else:
            base = make_run(scratch / "base", {("one", "reads"): (1.0, 1.1, 1.2), ("pair", "reads"): (2.0, 2.1, 2.2)})
            _leave_changes(RunDirectory(base))
        copy = scratch / "runs" / "a"
        for number in range(count):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(base, copy)
            (scratch / "out.html").unlink(missing_ok=True)
            changes = damage(copy, chance)
            for words in commands(copy, scratch):
                wrong = problem(words) or _script_in(scratch / "out.html")
                done += 1
                if wrong:
                    failures += 1
                    saved = Path(f"crash-{seed}-{number}")
                    shutil.copytree(copy, saved, dirs_exist_ok=True)
                    print(f"{words[0]} {changes}, saved as {saved}:\n{wrong}", flush=True)
                    break
    print(
        f"{count} damaged runs, {done} commands (seed {seed}) in {time.monotonic() - begun:.0f} s: {failures} failures"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(_main())
