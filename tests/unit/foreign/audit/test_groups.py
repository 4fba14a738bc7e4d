"""With `stonewall`, each job is compared with what the disks can do, not the sum of the jobs."""

import pytest

from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.texts import audit_text
from tests.unit.load.fio.test_merge_groups import _ONE_AFTER_THE_OTHER, _SIDE_BY_SIDE


@pytest.mark.parametrize("text", [_ONE_AFTER_THE_OTHER, _SIDE_BY_SIDE])
def test_the_rates_of_jobs_are_not_added_beyond_fios_own_sum(text: str) -> None:
    (audited,) = audit_text("x", text, read_context(devices=["1x 80MB/s"]))
    assert "physical-ceiling" not in {finding.rule for finding in audited.findings}


def test_fios_own_sum_above_the_disks_is_refuted() -> None:
    (audited,) = audit_text("x", _SIDE_BY_SIDE, read_context(devices=["1x 70MB/s"]))
    assert audited.verdict == "refuted"
    assert "79.4 MB/s" in audited.findings[0].message


def test_quoted_counters_cover_all_groups() -> None:
    """iostat shows 53 MB/s read in both groups, as fio reports for each."""
    block = "Device  tps  MB_read/s  MB_wrtn/s  MB_read  MB_wrtn\nsda  50.00  50.60  0.00  51  0\n"
    (audited,) = audit_text("x", f"{_ONE_AFTER_THE_OTHER}\n$ iostat -m 1\n{block}", Context())
    assert "read-from-cache" not in {finding.rule for finding in audited.findings}
