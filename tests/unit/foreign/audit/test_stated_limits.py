"""Limits on the I/Os per second that a text gives for its storage, and tables that repeat the text's results."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import block, header

_OUTPUT = header("db", "randwrite", 4096, "libaio", 16) + block("db", "write", 4600, clat_us=3470)


@pytest.mark.parametrize(
    ("line", "is_suspect"),
    [
        ("gp3 volume, provisioned IOPS 3000", True),
        ("gp3 volume with 3,000 provisioned IOPS", True),
        ("The volume is limited to 3k IOPS.", True),
        ("disk QOS iops:3000 bw:200MB/s", True),
        ("gp3 volume, provisioned IOPS 3100", False),
        ("two volumes: provisioned IOPS 3000 and 9000 provisioned IOPS", False),
        ("The volume is not limited to 3k IOPS.", False),
        ("It was rated at 3000 IOPS before the upgrade.", False),
        ("Max IOPS: 3000", False),
    ],
)
def test_results_far_above_a_stated_limit(line: str, is_suspect: bool) -> None:
    (found,) = audit_text("post", f"{line}\n\n{_OUTPUT}", Context())
    assert found.verdict == ("suspect" if is_suspect else "unproven")
    assert ["physical-ceiling"] * is_suspect == [each.rule for each in found.findings if each.effect == "suspects"]
    (above,) = audit_text("post", f"{_OUTPUT}\n\n{line}\n", Context())
    assert above.verdict == "unproven"


_TABLE = """| storage | write IOPS | write BW |
|---|---|---|
| new | {iops} | {rate} MiB/s |
| old | 910 | 3.6 MiB/s |

"""


@pytest.mark.parametrize(
    ("iops", "rate", "jobs"),
    [
        ("4.6k", "18", ["old", "db"]),
        ("4.6k", "25", ["new", "old", "db"]),
        ("4.2k", "18", ["new", "old", "db"]),
        ("4610.123", "18", ["old", "db"]),
        ("4700.123", "18", ["new", "old", "db"]),
        ("5k", "18", ["new", "old", "db"]),
        ("-", "18", ["new", "old", "db"]),
    ],
)
def test_rows_of_a_table_that_repeat_a_result_are_left_out(iops: str, rate: str, jobs: list[str]) -> None:
    found = audit_text("post", _TABLE.format(iops=iops, rate=rate) + _OUTPUT, Context())
    assert [each.job for each in found] == jobs
