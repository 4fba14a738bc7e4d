"""Which options of strangers' jobs are checked with `fio --parse-only`."""

from pathlib import Path

import pytest

from poolproof.errors import CampaignError
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.job import Job
from poolproof.load.fio.parse_only import check_values, complaints
from tests.unit.load.fio.needs_fio import needs_fio


@needs_fio
def test_fio_does_not_pass_a_value_to_bc() -> None:
    """fio evaluates a value that contains `$ncpus` with bc. This one would loop until the time limit."""
    job = Job("a", {"rw": "read", "description": "while(1)a=$ncpus+1", "iodepth": "x"})
    assert [each.name for each in complaints(LocalHost(), [job])] == ["iodepth"]


@needs_fio
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": "1m", "rate_iops": "100"}, "rate and rate_iops are mutually exclusive"),
        ({"rate": "1m", "rate_min": "2m"}, "minimum rate exceeds rate"),
        ({"zonesize": "64k", "zonemode": "none"}, "zonesize are not compatible"),
        ({"size": "1k"}, "size too small"),
    ],
)
def test_combinations_that_fio_rejects_are_found_before_a_trial(
    options: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`fio --parse-only` accepts them. Checking them runs no job and creates no file."""
    monkeypatch.chdir(tmp_path)
    common = {"rw": "write", "bs": "4k", "size": "1m", "numjobs": "400", "write_lat_log": "x"}
    with pytest.raises(CampaignError, match=message):
        check_values((Job("a", common), Job("b", {**common, **options})), LocalHost())
    others = {**common, "wait_for": "z", "group_reporting": "1", "percentile_list": "50"}
    check_values((Job("a", {**others, "blockalign": "8k"}), Job("b", {**others, "lat_percentiles": "1"})), LocalHost())
    assert list(tmp_path.iterdir()) == []
