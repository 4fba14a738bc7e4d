"""Inject most faults of `make faults` once, several at a time, because poolproof mostly waits for time limits."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.faults.__main__ import fault_modules, injected
from tests.faults.fault import Outcome

pytestmark = [pytest.mark.slow, pytest.mark.waits, pytest.mark.timeout(600)]

_LONGEST = ("disk_stopped", "hanging_fuse", "silent_link", "full_work")
_ALONE = ("disk_slowed", "disk_vanished", "killed", "read_only_results", "results_errors")
"""Faults that must happen in a certain second of a run.

If other faults are injected at the same time on a busy machine, they come too late.
"""

_NAMES = sorted(fault_modules().keys() - set(_ALONE), key=lambda name: (name not in _LONGEST, name))
_AT_A_TIME = 4
_SEED = 1


def _inject(name: str) -> Outcome:
    """Inject a fault in a separate process, whose runs have their own locks."""
    locks = tempfile.mkdtemp(prefix="poolproof-locks-")
    os.environ["POOLPROOF_LOCKS"] = locks
    try:
        return injected(name, fault_modules()[name], _SEED)
    finally:
        shutil.rmtree(locks, ignore_errors=True)


@pytest.fixture(scope="module")
def outcomes() -> Iterator[dict[str, Future[Outcome]]]:
    """The outcomes of all faults, keyed by name. The faults that take longest are injected first."""
    with ProcessPoolExecutor(_AT_A_TIME, mp_context=get_context("fork")) as pool:
        yield {name: pool.submit(_inject, name) for name in _NAMES}


@pytest.mark.parametrize("name", _NAMES)
def test_a_fault_is_survived(name: str, outcomes: dict[str, Future[Outcome]]) -> None:
    outcome = outcomes[name].result()
    assert outcome.survived, outcome
