"""What fio-plot, the peer that users have today, takes to draw graphs of the same results."""

import contextlib
import json
import random
import shutil
import subprocess
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

from benchmarks.importing import fio_document

VERSION = "1.1.21"
_DEPTHS = (1, 2, 4, 8, 16, 64)
_MODES = ("read", "randread", "randrw", "write", "randwrite", "rw")
_INSTALL_LIMIT_S = 600
_LIMIT_S = 120


def seconds_for(graphs: int) -> float | None:
    """Seconds that pass while fio-plot draws so many bar charts of six points; None where it can't be installed."""
    program = _installed()
    if program is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="bench-report-", dir="/var/tmp"))
    try:
        modes = [_MODES[number % len(_MODES)] for number in range(graphs)]
        inputs = [_write(folder / str(number), mode) for number, mode in enumerate(modes)]
        begun = time.monotonic()
        for mode, results in zip(modes, inputs, strict=True):
            _draw(program, results, mode)
        return time.monotonic() - begun
    finally:
        shutil.rmtree(folder)


def _draw(program: Path, results: Path, mode: str) -> None:
    argv = [str(program), "-i", str(results), "-T", "t", "-s", "s", "-l", "-r", mode, "-o", str(results / "graph.png")]
    argv += ["-d", *map(str, _DEPTHS), "-n", "1"]
    argv += ["-f", "read"] if mode in ("randrw", "rw") else []
    subprocess.run(argv, cwd=results, capture_output=True, check=True, timeout=_LIMIT_S)


def _write(folder: Path, mode: str) -> Path:
    """Six results, named as bench-fio names them."""
    folder.mkdir()
    chance = random.Random(3)
    for depth in _DEPTHS:
        document: dict[str, Any] = fio_document(mode, "4k", depth, depth, chance)
        document["jobs"][0]["latency_ns"] = document["jobs"][0]["latency_ms"] = {}
        text = json.dumps(document)
        (folder / f"{mode}-{depth}-1.json").write_text(text, encoding="utf-8")
    return folder


def _installed() -> Path | None:
    """fio-plot in an environment of its own, kept between runs, so that it is no dependency of ours."""
    home = Path.home() / ".cache" / "poolproof" / f"fio-plot-{VERSION}"
    program = home / "bin" / "fio-plot"
    if not program.exists():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            venv.create(home, clear=True, with_pip=True)
            argv = [str(home / "bin" / "pip"), "install", "--quiet", f"fio-plot=={VERSION}"]
            subprocess.run(argv, capture_output=True, check=True, timeout=_INSTALL_LIMIT_S)
    return program if program.exists() else None
