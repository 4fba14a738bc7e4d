"""Queries leave out the same disturbed trials as all other outputs."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.metrics import METRICS, REJECTED
from poolproof.results.query.connection import listed_runs, open_runs
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.rules.model import Finding
from tests.unit.results.compare.making import RECORD
from tests.unit.results.runs.disturbed_trials import BACKGROUND, BUSY, DISKS, SLOW_PERCENTILE, STOLEN, trial

_LAYOUTS, _WORKLOADS = 20, 20
_COLUMNS = {metric.column: metric.id for metric in METRICS if metric.id in ("iops", "bandwidth")}
_CAUSES = (
    *(STOLEN, BUSY, DISKS, BACKGROUND, SLOW_PERCENTILE),
    replace(STOLEN, metrics=("p99", "iops")),
    replace(STOLEN, metrics=("p99", "read_iops")),
    Finding("missing-proof", "leaves-unproven", "no requests were counted", "count them"),
)


def campaign(layouts: int, workloads: int, trials: int) -> str:
    names = ", ".join(f"l{number}: dir /srv/{number}" for number in range(layouts))
    jobs = ", ".join(f"w{number}: {{rw: randread, size: {number + 1}m}}" for number in range(workloads))
    return f"layouts: {{{names}}}\nworkloads: {{{jobs}}}\nmeasure: {{time: 5s, trials: {trials}}}"


def random_cell(rng: random.Random, layout: str, workload: str) -> Iterator[Trial]:
    """Yield the trials of a cell. Many are disturbed, some are refuted or failed, and some are of a second build."""
    share, spoilt, second = rng.choice((0.2, 0.5)), rng.choice((0.0, 0.1)), rng.choice((0.0, 0.4))
    for number in range(1, rng.randint(1, 9) + 1):
        causes = rng.sample(_CAUSES, rng.randint(1, 3)) if rng.random() < 0.3 else [STOLEN]
        findings = causes if rng.random() < share else []
        made = trial(number, rng.uniform(700, 1000), *findings, layout=layout, workload=workload)
        made = replace(made, build=2 if rng.random() < second else 1)
        if rng.random() < spoilt:
            made = replace(made, verdict=rng.choice(("refuted", "failed", "suspect")))
        if rng.random() < spoilt:
            made = replace(made, verdicts={"iops": rng.choice(("suspect", "refuted", "sound")), "p99": "refuted"})
        yield made


def row_of(cell: Cell) -> tuple[object, ...]:
    values: list[float | None] = []
    for metric in _COLUMNS.values():
        interval = cell.interval(metric)
        mean = interval.mean if interval else None
        values += [mean, None] if cell.result(metric).counts else [None, mean]
    return cell.verdict, len(cell.trials), len(cell.left_out), cell.builds, *values


def test_the_table_and_the_queries_agree_on_random_cells(tmp_path: Path) -> None:
    rng, text = random.Random(7), campaign(_LAYOUTS, _WORKLOADS, 3)
    directory = RunDirectory.create(tmp_path / "r", text, replace(RECORD, campaign=text))
    keys = [(f"l{layout}", f"w{workload}") for layout in range(_LAYOUTS) for workload in range(_WORKLOADS)]
    directory.write_trials(trial for key in keys for trial in random_cell(rng, *key))
    cells = load_run(tmp_path / "r").cells
    columns = ", ".join(f"{name}, {REJECTED}{name}" for name in _COLUMNS)
    with open_runs(tmp_path) as session:
        rows = session.ask(f"select layout, workload, verdict, trials, left_out, builds, {columns} from cells").rows
    assert {row[:2]: row[2:] for row in rows} == {
        (cell.layout, cell.workload): pytest.approx(row_of(cell)) for cell in cells
    }
    shown = Counter((bool(cell.left_out), cell.verdict) for cell in cells)
    assert min(shown[True, "sound"], shown[True, "suspect"], shown[False, "suspect"], shown[False, "failed"]) >= 5


def test_a_run_whose_disturbed_trials_are_left_out_is_finished(tmp_path: Path) -> None:
    text = campaign(1, 1, 4)
    directory = RunDirectory.create(tmp_path / "r", text, replace(RECORD, campaign=text))
    for number in range(1, 5):
        disturbed = (STOLEN,) if number == 2 else ()
        directory.append(trial(number, 1000.0, *disturbed, layout="l0", workload="w0"))
    with open_runs(tmp_path) as session:
        (listed,) = listed_runs(session)
        assert (listed.state, listed.trials, listed.verdicts) == ("finished", 4, {"sound": 1})
        assert session.ask("select trials, left_out, verdict from cells").rows == [(3, 1, "sound")]
        assert session.ask("select count(*) from trials").rows == [(4,)]
