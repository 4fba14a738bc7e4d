"""Inject faults, count what they left, and print a table. As root: `python -m tests.faults [--seconds N] [--seed N]`.

Without --seconds, 200 faults are injected (`make faults`). The exit code is 1 if a fault was not survived.
"""

import argparse
import importlib
import pkgutil
import random
import sys
import time
from collections.abc import Iterator
from types import ModuleType

import tests.faults
from tests.faults.fault import Outcome
from tests.loop.testbed import Testbed

_ALL = 200
_OTHERS = ("__main__", "fault")


def fault_modules() -> dict[str, ModuleType]:
    """Return the modules of all faults by name."""
    names = sorted(each.name for each in pkgutil.iter_modules(tests.faults.__path__) if each.name not in _OTHERS)
    return {name: importlib.import_module(f"tests.faults.{name}") for name in names}


def injected(name: str, module: ModuleType, seed: int) -> Outcome:
    """Inject one fault and return what it showed."""
    testbed, chance = Testbed(), random.Random(f"{name} {seed}")
    try:
        module.inject(testbed, chance)
        outcome: Outcome = module.expect(testbed, chance)
        module.clean(testbed)
        return outcome
    finally:
        testbed.close()


def _order(modules: dict[str, ModuleType]) -> Iterator[str]:
    while True:
        for name, module in modules.items():
            yield from [name] * getattr(module, "SHARE", 1)


def main() -> int:
    """Run the faults and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after this time (default: after 200 faults)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of all random choices")
    asked = parser.parse_args()
    modules, outcomes = fault_modules(), dict[str, list[Outcome]]()
    begun = time.monotonic()
    for number, name in enumerate(_order(modules)):
        is_over = bool(asked.seconds) and time.monotonic() - begun > asked.seconds and len(outcomes) == len(modules)
        if number >= _ALL or is_over:
            break
        outcome = injected(name, modules[name], asked.seed + number)
        outcomes.setdefault(name, []).append(outcome)
        if not outcome.survived:
            print(f"{name}, seed {asked.seed + number}: {outcome}", flush=True)
    rows: list[tuple[str, ...]] = [
        ("fault", "injected", "survived", "leaks", "foreign bytes", "trials lost", "longest s")
    ]
    for name, each in outcomes.items():
        counts = ((one.leaks, one.foreign_bytes, one.lost_trials) for one in each)
        sums = [sum(column) for column in zip(*counts, strict=True)]
        longest = f"{max(one.noticed_s for one in each):.1f}"
        rows.append((name, str(len(each)), str(sum(one.survived for one in each)), *map(str, sums), longest))
    for row in rows:
        print("  ".join(word.ljust(14) for word in row).rstrip())
    return int(not all(one.survived for each in outcomes.values() for one in each))


if __name__ == "__main__":
    sys.exit(main())
