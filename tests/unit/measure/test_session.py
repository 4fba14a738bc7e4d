"""Resuming a run: refused if its trials can't be continued as they began."""

from pathlib import Path

import pytest

from poolproof.errors import RunError
from poolproof.measure.session import reopen_session
from poolproof.results.runs.directory import RunDirectory
from tests.unit.results.compare.making import CAMPAIGN, changed, make_run


def test_a_run_with_a_removed_criterion_is_not_resumed_with_another(tmp_path: Path) -> None:
    record = changed(CAMPAIGN.replace("{time: 5s, trials: 3}", "{until: 3%, steady: fio-slope}"))
    run = RunDirectory.open(make_run(tmp_path / "run", {("one", "reads"): [1.0]}, record=record))
    with pytest.raises(RunError, match="fio-slope"), reopen_session(run, lambda *_: None, on=None):
        pytest.fail("it was resumed")
