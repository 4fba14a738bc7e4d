"""Buffers filled with one pattern: refill_buffers, which poolproof sets by default, has no effect on them."""

from dataclasses import replace

import pytest

from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.rules.judge import judge, lint
from poolproof.rules.model import Case, Finding
from tests.unit.rules.making import EXT4, MIB, counted, direction, jobs, said

_ZSTD = Target("btrfs", compression="zstd:3", ram_bytes=EXT4.ram_bytes)
_DEDUP = Target("zfs", ram_bytes=EXT4.ram_bytes, zfs=ZfsFacts(version="2.2.0", dedup="on"))


def _shrunk(options: str) -> Case:
    """Return a trial in which 64 MiB became 2.9 MiB on the disks."""
    evidence = counted(write=(64 * MIB, 2.2 * MIB, 2.9 * MIB))
    return Case(jobs(f"rw=write size=64m end_fsync=1 {options}"), said(write=direction(64 * MIB)), evidence, _ZSTD)


def _found(case: Case, rule: str) -> Finding:
    return next(finding for finding in judge(case).findings if finding.rule == rule)


@pytest.mark.parametrize(
    ("options", "why", "says_refill"),
    [
        ("bs=1m refill_buffers=1 buffer_pattern=0xabcdef01", "the job fills its buffers with one pattern", False),
        ("bs=1m verify=crc32c verify_pattern=0xabcdef01", "the job fills its buffers with one pattern", False),
        ("bs=4k", "fio fills each buffer once and reuses it", True),
    ],
)
def test_the_cause_and_the_fix_of_compressed_writes_name_the_pattern(options: str, why: str, says_refill: bool) -> None:
    case = _shrunk(options)
    cause, vanished = _found(case, "default-buffer-compressible"), _found(case, "write-vanished")
    assert why in cause.message
    assert cause.fix.startswith("set refill_buffers=1" if says_refill else "remove buffer_pattern")
    assert vanished.fix.startswith("use refill_buffers=1" if says_refill else "remove buffer_pattern")


def test_late_writes_do_not_explain_bytes_that_were_never_written() -> None:
    """btrfs wrote 2.2 MiB in time and 0.7 MiB later. Compression saved the other 61 MiB."""
    found = _found(_shrunk("bs=1m refill_buffers=1 buffer_pattern=0xabcdef01"), "write-not-on-disk")
    assert "they had written 2.9 MiB, so only a part of the rest was late" in found.message
    whole = replace(_shrunk("bs=1m"), evidence=counted(write=(64 * MIB, 20 * MIB, 64 * MIB)), target=EXT4)
    assert _found(whole, "write-not-on-disk").message.endswith("the rest was not on a disk yet")


@pytest.mark.parametrize(
    ("options", "fix"),
    [
        ("buffer_pattern=0xabcdef01 refill_buffers=1", "or remove buffer_pattern and verify_pattern"),
        ("dedupe_percentage=80", "or set refill_buffers=1"),
    ],
)
def test_the_fix_of_deduplicated_writes_names_the_pattern(options: str, fix: str) -> None:
    found = lint(replace(_shrunk(f"bs=128k {options}"), outcome=None, evidence=None, target=_DEDUP))
    assert fix in next(finding.fix for finding in found if finding.rule == "deduplicated")
