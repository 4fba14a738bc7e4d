"""Inject faults, count what they leave behind, and print a table: `python -m tests.faults [--kills N] [--seconds N]`.

Every fault is injected once. Then poolproof is killed 200 times (`make faults`). This needs root but no terminal, and
runs at low priority. After --seconds, or on SIGTERM, it prints the table of what it has done so far. It exits with 1 if
a fault was not survived.
"""

import argparse
import contextlib
import fcntl
import importlib
import os
import pkgutil
import random
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing.util import Finalize
from pathlib import Path
from types import ModuleType

import tests.faults
from tests.faults.fault import Outcome
from tests.loop.testbed import Testbed

_KILLS = 200
_KILL = "killed"
_OTHERS = ("__main__", "fault")
_NICE = 10
_END_S = 60.0
Outcomes = Mapping[str, Sequence[Outcome]]


def fault_modules() -> dict[str, ModuleType]:
    """Return the modules of all faults, keyed by name."""
    names = sorted(each.name for each in pkgutil.iter_modules(tests.faults.__path__) if each.name not in _OTHERS)
    return {name: importlib.import_module(f"tests.faults.{name}") for name in names}


def injected(name: str, module: ModuleType, seed: int) -> Outcome:
    """Inject one fault, and return the outcome."""
    testbed, chance = Testbed(), random.Random(f"{name} {seed}")
    try:
        module.inject(testbed, chance)
        outcome: Outcome = module.expect(testbed, chance)
        module.clean(testbed)
        return outcome
    finally:
        _end_runs(str(testbed.path))
        testbed.close()


def _end_runs(place: str) -> None:
    """Stop runs that are still in progress because their fault could not be injected.

    They clean up after themselves.
    """
    deadline = time.monotonic() + _END_S
    while runs := [pid for pid, said in _command_lines() if f"poolproof run {place}/" in said]:
        for pid in runs:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL)
        time.sleep(1.0)


def _command_lines() -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield int(folder.name), (folder / "cmdline").read_text(errors="replace").replace("\0", " ")


@contextlib.contextmanager
def _turn(file: Path | None) -> Iterator[None]:
    """Hold the lock on the file while faults are injected, so that they alternate with other tests."""
    if file is None:
        yield
        return
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # closing is not enough, because the workers have inherited it


def _stop(*_arguments: object) -> None:
    raise KeyboardInterrupt


def _own_locks() -> None:
    """Give this process its own locks. Otherwise, the runs of other processes would prevent its own."""
    folder = tempfile.mkdtemp(prefix="poolproof-locks-")
    os.environ["POOLPROOF_LOCKS"] = folder
    Finalize(None, shutil.rmtree, args=(folder,), exitpriority=0)


def _one(name: str, seed: int) -> Outcome:
    """Inject a fault. If that fails, the outcome gives the reason, and the other faults are still injected."""
    try:
        return injected(name, fault_modules()[name], seed)
    except Exception as error:
        return Outcome(0, 0, 0, 0.0, f"not injected: {error!r}")


def _inject_all(asked: argparse.Namespace, pool: Executor, outcomes: dict[str, list[Outcome]]) -> None:
    """Inject each fault once, then kill runs until `--kills` of them were killed or the time is up."""
    begun, seed, killed = time.monotonic(), asked.seed, outcomes.setdefault(_KILL, [])
    chosen = [name for name in fault_modules() if name != _KILL and (not asked.only or name in asked.only)]
    kills = 0 if asked.only and _KILL not in asked.only else asked.kills
    while chosen or len(killed) < kills:
        if asked.seconds and time.monotonic() - begun > asked.seconds:
            print(f"stopped after {asked.seconds:g} s", flush=True)
            return
        names = chosen[: asked.parallel] or [_KILL] * min(asked.parallel, kills - len(killed))
        del chosen[: asked.parallel]
        with _turn(asked.lock):
            found = list(pool.map(_one, names, range(seed, seed + len(names))))
        for number, (name, outcome) in enumerate(zip(names, found, strict=True), start=seed):
            if outcome.kind:
                outcomes.setdefault(name, []).append(outcome)
            if not outcome.survived or name != _KILL:
                print(f"{name}, seed {number}: {outcome}", flush=True)
        seed += len(names)
        if not chosen:
            print(f"{len(killed)} of {kills} killed, {time.monotonic() - begun:.0f} s", flush=True)


def _table(outcomes: Outcomes) -> str:
    rows: list[tuple[str, ...]] = [
        ("fault", "injected", "survived", "leaks", "foreign bytes", "trials lost", "longest s")
    ]
    for name, each in sorted(outcomes.items()):
        if each:
            sums = [
                sum(column)
                for column in zip(*((one.leaks, one.foreign_bytes, one.lost_trials) for one in each), strict=True)
            ]
            longest = f"{max(one.noticed_s for one in each):.1f}"
            rows.append((name, str(len(each)), str(sum(one.survived for one in each)), *map(str, sums), longest))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _shares(killed: Sequence[Outcome]) -> str:
    """Return the number of runs that were killed on each layer and in each phase, as text."""
    kinds = [one.kind.split(", ") for one in killed if ", " in one.kind]
    counts = (Counter(kind[place] for kind in kinds) for place in (0, 1))
    return "\n".join(
        f"killed {title}: {', '.join(f'{name} {count}' for name, count in sorted(each.items()))}"
        for title, each in zip(("on", "during"), counts, strict=True)
    )


def main() -> int:
    """Inject the faults, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=_KILLS, help="how many runs to kill (default: 200)")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after this time (default: no limit)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of all random choices")
    parser.add_argument("--only", nargs="+", default=[], metavar="FAULT", help="only these faults")
    parser.add_argument("--parallel", type=int, default=2, help="how many faults to inject at a time (default: 2)")
    parser.add_argument("--lock", type=Path, help="hold the lock on this file while faults are injected")
    asked = parser.parse_args()
    os.nice(_NICE)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    outcomes = dict[str, list[Outcome]]()
    print(f"python -m tests.faults {shlex.join(sys.argv[1:])}", flush=True)
    pool = ProcessPoolExecutor(asked.parallel, initializer=_own_locks)
    with contextlib.suppress(KeyboardInterrupt), pool:
        _inject_all(asked, pool, outcomes)
    print(_table(outcomes))
    if outcomes[_KILL]:
        print(_shares(outcomes[_KILL]))
    return int(not all(one.survived for each in outcomes.values() for one in each))


if __name__ == "__main__":
    sys.exit(main())
