"""Create folders of runs for queries, without measuring anything."""

from dataclasses import replace
from pathlib import Path

import msgspec

from poolproof.evidence.model import LeafUse
from poolproof.results.runs.directory import RunDirectory
from tests.unit.presentation.export.making import grid_run, nasty_run
from tests.unit.results.compare.making import make_run

READS = {("one", "reads"): [100.0, 110.0, 120.0], ("pair", "reads"): [200.0, 210.0, 220.0]}
LEAF = LeafUse("a", 1000, 2000, 2100, 10, 20, 3, 0.5, 0.001)


def folder_of_runs(root: Path) -> Path:
    """Create three runs: one with refuted and failed cells, one with leaf devices, and one with hostile names."""
    grid_run(root / "grid")
    small = make_run(root / "deeper" / "small", READS, bad={("pair", "reads"): "suspect"})
    directory = RunDirectory.open(small)
    directory.write_trials(replace(trial, leaves=(LEAF, replace(LEAF, device="b"))) for trial in directory.trials())
    nasty_run(root / "nasty")
    return root


def set_schema(run: Path, schema: int) -> None:
    """Change a run's schema version, as if a different version of poolproof had written it."""
    path = run / "run.json"
    record = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode({**record, "schema": schema}))
