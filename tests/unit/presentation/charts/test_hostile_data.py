"""Charts over time draw a trial whose data somebody has changed, or leave it out, but never fail."""

import json
from pathlib import Path

import pytest

from poolproof.presentation.charts.busy import CHART as BUSY
from poolproof.presentation.charts.latency_time import CHART as LATENCY
from poolproof.presentation.charts.rates import CHART as RATES
from poolproof.presentation.charts.trial_data import trial_data
from tests.unit.presentation.html_report.making import make_run, trial

_RAW = ("1e308", "-1e308", "9" * 400, "-1", "0", "5e-324", str(2**62), "null", "[]", "{}", '"\udcff"', "true")


@pytest.mark.parametrize("name", ["samples.jsonl", "series.jsonl", "latency.jsonl"])
@pytest.mark.parametrize("raw", _RAW)
def test_a_changed_number_causes_no_error(tmp_path: Path, name: str, raw: str) -> None:
    run = make_run(tmp_path / "run", [trial("one", "stream")])
    for path in run.rglob(name):
        kept = path.read_text()
        lines = kept.splitlines()
        for key, changed in _changed(json.loads(lines[-1])):
            text = "\n".join([lines[0], changed.replace('"HOLE"', raw), *lines[1:], changed.replace('"HOLE"', raw)])
            path.write_bytes(text.encode("utf-8", "surrogateescape") + b"\n")
            found = trial_data(run, trial("one", "stream"), 200)
            if found is None:
                continue
            for chart in (RATES, BUSY, LATENCY):
                drawn = chart.lines(found)
                assert "Infinity" not in json.dumps([[lines.at, dict(lines.values)] for lines in drawn]), key


def _changed(line: dict[str, object]) -> list[tuple[str, str]]:
    """Return copies of the line, in each of which one value is replaced by HOLE."""
    found = [(key, json.dumps({**line, key: "HOLE"})) for key in line]
    for key, value in line.items():
        if isinstance(value, dict):
            found.append((key, json.dumps({**line, key: {**value, "9" * 400: 1}})))
            for inner, deeper in value.items():
                found.append((inner, json.dumps({**line, key: {**value, inner: "HOLE"}})))
                if isinstance(deeper, dict):
                    found.append((inner, json.dumps({**line, key: {**value, inner: {**deeper, "9" * 400: 1}}})))
                    found += [
                        (last, json.dumps({**line, key: {**value, inner: {**deeper, last: "HOLE"}}})) for last in deeper
                    ]
    return found
