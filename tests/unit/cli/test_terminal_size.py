"""COLUMNS and LINES that are not a terminal's size are ignored."""

import os
import subprocess
from pathlib import Path

import pytest

from poolproof.results.runs.directory import RunDirectory
from tests.loop.command import POOLPROOF
from tests.unit.results.compare.making import RECORD


@pytest.mark.parametrize("columns", ["0", "-5", "²", "", "many", "9" * 30])
def test_a_run_is_printed_in_any_case(columns: str, tmp_path: Path) -> None:
    """With 0 columns, nothing was printed."""
    run = RunDirectory.create(tmp_path / "run", RECORD.campaign, RECORD)
    argv = [POOLPROOF, "show", str(run.path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, env={**os.environ, "COLUMNS": columns})
    assert done.returncode == 0, done.stderr
    assert str(run.path) in done.stdout
