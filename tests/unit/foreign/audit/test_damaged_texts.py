"""A quick form of `make fuzz`: damaged copies of all formats cause neither a traceback nor a hang."""

import time

import pytest

from poolproof.errors import FioError
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text
from tests.fuzz.mutated_texts import audit_all, mutated, seeds
from tests.unit.foreign.audit.test_formats import VALUES

_COUNT = 200
_LIMIT_S = 10.0


def test_damaged_texts_cause_no_traceback() -> None:
    formats = tuple(text for text, _ in VALUES.values())
    assert audit_all(mutated(seeds(formats * 3), _COUNT, seed=7)) == _COUNT


def test_a_long_line_of_one_character_takes_little_time() -> None:
    """A pattern that tries every length from every position would take minutes for a line of equal characters."""
    begun = time.process_time()
    for character in (" ", "\t", "{", "9", "|", "`"):
        audit_text("fuzz", character * 6000, Context())
    assert time.process_time() - begun < _LIMIT_S


def test_a_text_with_too_many_results_of_other_programs_is_refused_in_time() -> None:
    begun = time.process_time()
    with pytest.raises(FioError, match="more than 10,000 results"):
        audit_text(
            "a", "  KB  reclen   write rewrite    read    reread\n" + "  1048576  4  1 2 3 4\n" * 10_000, Context()
        )
    assert time.process_time() - begun < 2 * _LIMIT_S


@pytest.mark.parametrize(
    "text",
    [
        "$ dd if=/dev/zero of=x bs=999999999999G count=1\n1073741824 bytes (1.1 GB) copied, 0.5 s, 2.1 GB/s",
        "$ ioping -S 99999999999999G /srv\n--- /srv (ext4 /dev/sda) ioping statistics ---\n"
        "9 requests completed in 1.23 ms, 36 KiB read, 7.31 k iops, 28.6 MiB/s",
        "iozone -s 999999999999G -r 4k\nChildren see throughput for 4 readers = 100000.00 kB/sec",
        "fio-3.33\nStarting 1 process\na: Laying out IO file (1 file / 999999999TiB)",
        "TEST_FILE: /x\nSIZE: 999999999TiB\n",
    ],
)
def test_a_size_that_no_file_can_have_is_no_error(text: str) -> None:
    audit_text("fuzz", text, Context())
