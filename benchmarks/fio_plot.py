"""Measure how long fio-plot takes to draw graphs: `python -m benchmarks.fio_plot 648` draws 648 of them."""

import contextlib
import json
import random
import resource
import shutil
import subprocess
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.arguments import arguments
from benchmarks.importing import fio_document
from poolproof.units import format_duration

VERSION = "1.1.21"
_DEPTHS = (1, 2, 4, 8, 16, 64)
_MODES = ("read", "randread", "randrw", "write", "randwrite", "rw")
_INSTALL_LIMIT_S = 600
_LIMIT_S = 120


@dataclass(frozen=True)
class Peer:
    """The wall time and the processor time, in seconds, that fio-plot took to draw `drawn` graphs."""

    drawn: int
    seconds: float
    busy_s: float

    def words(self, graphs: int) -> str:
        """Return the time for this number of graphs as text.

        It is extrapolated from the graphs that were drawn, because each is drawn by a separate process.
        """
        each = graphs / self.drawn
        what = f"fio-plot {VERSION} takes {format_duration(each * self.seconds)} for {graphs} of its graphs"
        busy = f"{format_duration(each * self.busy_s)} of the processors"
        return f"{what}, {busy}" + ("" if graphs == self.drawn else f" ({self.drawn} drawn)")


def drawn(graphs: int) -> Peer | None:
    """Draw this number of bar charts with fio-plot, with six points each. None if fio-plot can't be installed."""
    program = installed("fio-plot")
    if program is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="bench-report-", dir="/var/tmp"))
    try:
        inputs = {mode: _write(folder / mode, mode) for mode in _MODES}
        before, begun = _busy_s(), time.monotonic()
        for number in range(graphs):
            mode = _MODES[number % len(_MODES)]
            _draw(program, inputs[mode], mode)
        return Peer(graphs, time.monotonic() - begun, _busy_s() - before)
    finally:
        shutil.rmtree(folder)


def _busy_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _draw(program: Path, results: Path, mode: str) -> None:
    argv = [str(program), "-i", str(results), "-T", "t", "-s", "s", "-l", "-r", mode, "-o", str(results / "graph.png")]
    argv += ["-d", *map(str, _DEPTHS), "-n", "1"]
    argv += ["-f", "read"] if mode in ("randrw", "rw") else []
    subprocess.run(argv, cwd=results, capture_output=True, check=True, timeout=_LIMIT_S)


def _write(folder: Path, mode: str) -> Path:
    """Write six result files with the names that bench-fio gives them."""
    folder.mkdir()
    chance = random.Random(3)
    for depth in _DEPTHS:
        document: dict[str, Any] = fio_document(mode, "4k", depth, depth, chance)
        document["jobs"][0]["latency_ns"] = document["jobs"][0]["latency_ms"] = {}
        text = json.dumps(document)
        (folder / f"{mode}-{depth}-1.json").write_text(text, encoding="utf-8")
    return folder


def installed(name: str) -> Path | None:
    """Return the path of a program in the fio-plot package, or None if the package can't be installed.

    The package is installed in a separate environment, which is kept for later calls.
    """
    home = Path.home() / ".cache" / "poolproof" / f"fio-plot-{VERSION}"
    program = home / "bin" / name
    if not program.exists():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            venv.create(home, clear=True, with_pip=True)
            argv = [str(home / "bin" / "pip"), "install", "--quiet", f"fio-plot=={VERSION}"]
            subprocess.run(argv, capture_output=True, check=True, timeout=_INSTALL_LIMIT_S)
    return program if program.exists() else None


if __name__ == "__main__":
    words = arguments(__doc__)
    asked = int(words[0]) if words else 24
    peer = drawn(asked)
    print(peer.words(asked) if peer else "fio-plot cannot be installed here")
