"""experimental_verify: before release 3.42, fio wrote the data again with engines that prepare their requests."""

from dataclasses import replace

import pytest

from poolproof.evidence.model import Evidence
from poolproof.rules.judge import judge, lint
from poolproof.rules.model import Case
from tests.unit.rules.making import EXT4, MIB, account, direction, jobs, leaf, said


def _verified(options: str, release: str) -> Case:
    """Return a trial in which the disk received twice as many writes as fio counted."""
    disk = leaf(write_bytes=32 * MIB, drained_write_bytes=32 * MIB, write_ios=8_192)
    evidence = Evidence(account(write=(16 * MIB, 32 * MIB, 32 * MIB)), (disk,))
    outcome = replace(said(write=direction(16 * MIB, 2.0)), version=release)
    return Case(jobs(f"rw=randwrite bs=4k size=16m direct=1 verify=crc32c {options}"), outcome, evidence, EXT4)


@pytest.mark.parametrize(
    ("options", "release", "is_again"),
    [
        ("ioengine=libaio experimental_verify=1", "fio-3.33", True),
        ("ioengine=io_uring experimental_verify=1", "fio-3.41", True),
        ("ioengine=libaio experimental_verify=1", "fio-3.42", False),
        ("ioengine=psync experimental_verify=1", "fio-3.33", False),
        ("ioengine=libaio", "fio-3.33", False),
    ],
)
def test_writes_instead_of_reads_are_named_as_the_cause_of_amplification(
    options: str, release: str, is_again: bool
) -> None:
    messages = {found.rule: found.message for found in judge(_verified(options, release), "write_p99").findings}
    assert ("writes everything again" in messages["amplification"]) == is_again
    assert ("verifies nothing" in messages["verify-cost"]) == is_again
    assert ("reads back everything" in messages["verify-cost"]) != is_again


def test_lint_names_the_release_that_reads_back() -> None:
    case = replace(_verified("ioengine=libaio experimental_verify=1", "fio-3.33"), outcome=None, evidence=None)
    message = next(found.message for found in lint(case) if found.rule == "verify-cost")
    assert "before release 3.42 writes everything again" in message
