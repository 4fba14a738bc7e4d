"""Ctrl-C at random moments: a command ends with exit code 130 or as usual, without a traceback, and leaves nothing.

    sudo python -m tests.fuzz.interrupted [COUNT] [SEED] [COMMAND …]

This runs each command (default: all of them) COUNT times (default: 20), and sends SIGINT to its process group at a
random moment, as a terminal does. Each run that failed is printed with the moment. A signal that arrives before the
program has called `main` is counted as `start-up`, because only Python can handle it, and Python may print a traceback.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.loop.command import POOLPROOF
from tests.loop.leftovers import leftovers_of
from tests.loop.testbed import Testbed
from tests.unit.results.compare.making import make_run

_CAMPAIGN = """
devices: {a: {file: 128M}, b: {file: 128M}}
layouts: {found: 'dir {data}', one: a | ext4}
workloads:
  reads: {rw: randread, bs: 16k, size: 8m}
measure: {trials: 2, time: 300ms, seed: 3}
"""
_LIMIT_S = 120.0
_STARTING = re.compile(r'Fatal Python error: init|bin/poolproof", line \d+, in <module>\n +from ')
_FIO = Path(__file__).parents[1] / "unit" / "foreign" / "audit" / "cases"


def _commands(testbed: Testbed) -> dict[str, list[str]]:
    campaign = str(testbed.campaign(_CAMPAIGN))
    job = testbed.path / "job.fio"
    job.write_text("[reads]\nrw=randread\nbs=4k\nsize=1g\nioengine=libaio\n")
    shown = make_run(
        testbed.path / "shown", {(layout, "reads"): (1.0, 1.1, 1.2) for layout in ("one", "pair", "union")}
    )
    runs, out = str(shown), str(testbed.path / "out")
    words = ["run", campaign, "--work", str(testbed.work), "--share-host"]
    return {
        "check": ["check", campaign],
        "lint": ["lint", str(job)],
        "audit": ["audit", str(_FIO)],
        "save": ["audit", str(_FIO), "--save", out],
        "show": ["show", runs],
        "rank": ["rank", runs],
        "compare": ["compare", runs, runs],
        "report": ["report", runs, "--out", f"{out}.html"],
        "export": ["export", runs, "--format", "csv", "--out", f"{out}.csv"],
        "runs": ["runs", str(shown.parent)],
        "query": ["query", str(shown.parent), "select * from trials"],
        "dry-run": [*words, "--dry-run"],
        "devices": ["devices"],
        "clean": ["clean", "--work", str(testbed.work)],
        "run": [*words, "--out", out],
    }


def interrupted(argv: list[str], at_s: float, *, again_s: float | None = None) -> tuple[int, str]:
    """Run a command, interrupt it after `at_s`, and return its exit code and its output."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        argv, stdout=pipe, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        for wait_s in (at_s, again_s):
            if wait_s is None:
                continue
            try:
                process.wait(wait_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
        try:
            out = process.communicate(timeout=_LIMIT_S)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return -9, f"still running {_LIMIT_S} s later"
    return process.returncode, out.decode(errors="replace")


def _main() -> int:
    count, seed = (int(value) for value in (*sys.argv[1:3], *("20", "1")[len(sys.argv[1:3]) :]))
    chance, failures = random.Random(seed), 0
    testbed = Testbed()
    try:
        commands = _commands(testbed)
        for name in sys.argv[3:] or commands:
            argv, codes = [POOLPROOF, *commands[name]], Counter[int | str]()
            begun = time.monotonic()
            usual, _ = interrupted(argv, _LIMIT_S)
            took_s = time.monotonic() - begun
            for _ in range(count):
                _remove_outputs(testbed)
                at_s = chance.uniform(0, took_s * 1.05)
                code, text = interrupted(argv, at_s)
                left = [each for each in _left(testbed) if "shown" not in each]
                if not left and _was_starting(code, text):
                    codes["start-up"] += 1
                    continue
                codes[code] += 1
                if code not in (usual, 130) or "Traceback" in text or "Exception ignored" in text or left:
                    failures += 1
                    print(f"{name} after {at_s:.3f} of {took_s:.3f} s: {code}, left {left}: {text[-1500:]}", flush=True)
            print(f"{name}: usually {usual} in {took_s:.2f} s; {dict(codes)}", flush=True)
    finally:
        testbed.close()
    return 1 if failures else 0


def _was_starting(code: int, text: str) -> bool:
    """True if the signal ended Python before the program had called `main`."""
    return (code == -signal.SIGINT and not text) or bool(_STARTING.search(text))


def _remove_outputs(testbed: Testbed) -> None:
    for path in testbed.path.glob("out*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _left(testbed: Testbed) -> list[str]:
    parts = [str(path) for path in testbed.path.glob("**/.part-*")]
    return parts + testbed.traces() + leftovers_of(str(testbed.path))


if __name__ == "__main__":
    raise SystemExit(_main())
