"""Replaying recordings: complete recordings are replayed like a live run, and every result is computed."""

import random
import re
from pathlib import Path

import pytest
from benchmarks import recordings
from benchmarks.made_series import INTERVAL_S, correlated
from benchmarks.recordings import Head, Recorded
from benchmarks.replay import FIXED_S, by_campaign, cells_of, replay, report, rotations

from poolproof.errors import RunError
from poolproof.stopping.model import StoppingRule

HEAD = Head("made", "0", "2026-11-21T00:00:00+00:00", "here")
RULE = StoppingRule(trials_max=3)


def _trials(layout: str, workload: str, rng: random.Random, mean: float) -> list[Recorded]:
    return [
        Recorded(layout, workload, number, "ios", INTERVAL_S, 0.0, tuple(correlated(rng, 0.3, 0.02 * mean, mean)[:600]))
        for number in (1, 2, 3)
    ]


@pytest.fixture
def made() -> list[Recorded]:
    rng, found = random.Random(3), []
    for workload in range(6):
        found += _trials("slow", f"w{workload}", rng, 1000)
        found += _trials("fast", f"w{workload}", rng, 1300)
    return found


def test_a_recording_survives_writing_and_reading(made: list[Recorded], tmp_path: Path) -> None:
    path = recordings.write(tmp_path, HEAD.campaign, HEAD, made)
    head, trials = recordings.read(path)
    assert head == HEAD
    assert [trial.mean for trial in trials] == pytest.approx([trial.mean for trial in made], rel=1e-3)
    assert recordings.paths(tmp_path) == [path]
    assert recordings.write(tmp_path, HEAD.campaign, HEAD, made).read_bytes() == path.read_bytes()


def test_the_layouts_of_a_campaign_may_be_recorded_one_by_one(made: list[Recorded], tmp_path: Path) -> None:
    for layout in ("slow", "fast"):
        recordings.write(tmp_path, f"made-{layout}", HEAD, [trial for trial in made if trial.layout == layout])
    (cells,) = by_campaign(recordings.paths(tmp_path)).values()
    assert cells.keys() == cells_of("made", made).keys()


def test_a_recording_of_another_schema_is_refused(tmp_path: Path) -> None:
    path = recordings.write(tmp_path, "other", Head("made", "0", "", "", schema=99), [])
    with pytest.raises(RunError):
        recordings.read(path)


def test_a_replay_takes_little_time_and_finds_the_winners(made: list[Recorded]) -> None:
    rounds = [replay(cells, RULE) for cells in rotations(cells_of("made", made))]
    assert len(rounds) == 3
    seconds = sum(each.seconds for each in rounds[0])
    assert seconds < 12 * FIXED_S / 15
    assert all(each.settled and each.error < 0.03 for round_ in rounds for each in round_)
    lines = "\n".join(report(rounds, RULE))
    assert "12 cells, 3 orders" in lines
    assert "top-1 agreement: 18 of 18" in lines
    assert re.search(r"wrong winners .*: 0 of 18", lines)


def test_a_trial_longer_than_its_recording_does_not_converge(made: list[Recorded]) -> None:
    short = [Recorded("l", "w", 1, "ios", INTERVAL_S, 10.0, made[0].values[:100])] * 3
    (only,) = replay(cells_of("made", short), RULE)
    assert not only.settled and only.decisions[0].used_s == pytest.approx(10)
