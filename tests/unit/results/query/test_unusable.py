"""`runs`, `query` and the history page mention impossible values, and percentiles with too few events."""

import json
import re
from pathlib import Path

import pytest

from tests.golden import Message
from tests.unit.command import Command
from tests.unit.results.compare.making import make_run

from .test_commands import poolproof

__all__ = ["poolproof"]

RATES = "select run, number, iops, rejected_iops from trials where layout = 'one' and workload = 'reads' order by all"


@pytest.fixture
def runs(poolproof: Command) -> Command:
    make_run(Path("runs/clear"), {("one", "reads"): [100.0, 101.0]})
    make_run(Path("runs/few"), {("one", "etcd"): [2e6, 2.1e6]}, syncs={"one": 112})
    make_run(Path("runs/negative"), {("one", "reads"): [100.0, 101.0]})
    change("negative", "-5.0")
    return poolproof


def change(run: str, value: str) -> None:
    """Replace the IOPS of a run's first trial."""
    path = Path("runs", run, "trials.jsonl")
    path.write_text(re.sub(r'"iops":100(\.0)?,', f'"iops":{value},', path.read_text(), count=1))


def test_the_list_of_runs_counts_them(runs: Command) -> None:
    code, out, _ = runs("runs", "runs")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert code == 0 and "!" not in lines["clear"]
    assert re.search(r"! 1 cell .*few events$", lines["few"])
    assert re.search(r"! 1 cell .*unusable value$", lines["negative"])
    found = {
        each["run"]: (each["unusable"], each["too_few"])
        for each in json.loads(runs("runs", "runs", "--json")[1])["runs"]
    }
    assert found == {"clear": (0, 0), "few": (0, 1), "negative": (1, 0)}


def test_a_negative_value_is_rejected_in_a_query(runs: Command) -> None:
    rows = json.loads(runs("query", "runs", RATES, "--json")[1])["rows"]
    assert ["negative", 1, None, -5.0] in rows and ["negative", 2, 101.0, None] in rows
    assert json.loads(runs("query", "runs", "select min(iops) from trials", "--json")[1])["rows"][0][0] > 0


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e300"])
def test_a_value_that_is_not_finite_makes_its_line_damaged_as_in_show(runs: Command, value: str) -> None:
    """Earlier versions returned nan or inf from a query, and an infinite mean for the cell."""
    change("clear", value)
    code, out, err = runs("query", "runs", RATES)
    assert code == 7 and "clear, line 1 of trials.jsonl: " in err
    assert [line.split() for line in out.splitlines() if line.startswith("clear")] == [["clear", "2", "101"]]
    assert runs("show", "runs/clear")[0] == 7


def test_the_history_page_says_why_a_result_is_limited(runs: Command) -> None:
    assert runs("runs", "runs", "--page", "page.html")[0] == 0
    text = Path("page.html").read_text(encoding="utf-8")
    assert "measured \\u22125.00 IOPS" in text or "measured −5.00 IOPS" in text
    assert "112 syncs" in text and "1,000 syncs" in text


def test_an_oversized_line_is_left_out_and_does_not_hide_the_other_runs(runs: Command, message: Message) -> None:
    """DuckDB refused the whole query. The line has as many disks as fit into 40 MiB."""
    path = Path("runs/clear/trials.jsonl")
    first, *rest = path.read_text().splitlines(keepends=True)
    trial = json.loads(first)
    leaf = {"device": "d", "read_bytes": 1, "write_bytes": 1, "drained_write_bytes": 1, "utilisation": 0.5}
    many = [leaf | {"device": f"d{number}"} for number in range(40 * 2**20 // len(json.dumps(leaf)))]
    path.write_text("".join([json.dumps(trial | {"leaves": many}) + "\n", *rest]))
    code, out, err = runs("runs", "runs")
    assert code == 7 and "clear, line 1 of trials.jsonl: " in message(err) and "16 MiB" in err
    assert {line.split()[0] for line in out.splitlines()} >= {"clear", "few", "negative"}
    assert runs("show", "runs/clear")[0] == 7
