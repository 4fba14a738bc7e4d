"""Blocks of fio's output whose first lines, with the direction and the rate, were cut off."""

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import block

_IOS = 3_000_000
_TOTALS = """
Run status group 0 (all jobs):
  WRITE: bw=195MiB/s (205MB/s), 195MiB/s-195MiB/s (205MB/s-205MB/s), io=11.4GiB (12.3GB), run=60000-60000msec
"""


def _rest_of_block(issued: str) -> str:
    return (
        "     | 99.99th=[ 1500]\n   bw (  KiB/s): min=150000, max=210000, per=100.00%, avg=199680.00, stdev=900.00\n"
        "  cpu          : usr=3.64%, sys=3.15%, ctx=243682, majf=0, minf=9\n"
        f"     issued rwts: total={issued} short=0,0,0,0 dropped=0,0,0,0\n"
    )


def test_the_totals_of_the_group_are_those_of_its_only_block() -> None:
    (audited,) = audit_text("post", _rest_of_block(f"0,{_IOS},0,0") + _TOTALS, Context())
    written = audited.figures.directions["write"]
    assert (written.ios, written.iops, written.runtime_ms) == (_IOS, 50_000, 60_000)
    assert written.bandwidth_bytes == 205e6


def test_the_totals_of_a_group_with_several_blocks_belong_to_none_of_them() -> None:
    text = block("job", "write", 25_000) + _rest_of_block("0,1500000,0,0") + _TOTALS
    found = [each.figures.directions["write"] for each in audit_text("post", text, Context())]
    assert (_IOS, 50_000) not in [(each.ios, each.iops) for each in found]


def test_the_issued_ios_show_the_direction_if_there_is_only_one() -> None:
    (reads,) = audit_text("post", _rest_of_block("1500000,0,0,0"), Context())
    (mixed,) = audit_text("post", _rest_of_block("1500000,1500000,0,0"), Context())
    assert list(reads.figures.directions) == ["read"]
    assert list(mixed.figures.directions) == ["mixed"]


def test_a_job_whose_name_was_cut_off_is_the_job() -> None:
    text = _rest_of_block("1500000,0,0,0").replace("usr=3.64%, sys=3.15%", "usr=1.20%, sys=95.80%")
    (audited,) = audit_text("post", text, Context())
    (note,) = [finding for finding in audited.findings if finding.rule == "cpu-bound-fio"]
    assert note.message.startswith("the job used 97% of a CPU")
