"""The recordings in benchmarks/recordings/ are complete, and the documented results of their replay are true."""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import recordings
from benchmarks.replay import PROOF, by_campaign, held_by_kind, main, measure, rounds_of

PATHS = recordings.paths(recordings.FOLDER)
DOCS = Path(recordings.FOLDER).parents[1] / "docs" / "benchmarks.md"
STOPPING = DOCS.with_name("stopping.md")
LEAST_CELLS = 60
LEAST_S = 60.0
LAYOUTS = {
    "long-emulated": {"rust-ext4", "rust-xfs", "rust-btrfs", "ssd-ext4", "ssd-xfs", "ssd-btrfs", "raid1"},
    "long-mergerfs": {"alike", "unalike"},
    "long-zfs": {"mirror", "mirror-log"},
}


def test_at_least_sixty_cells_are_recorded() -> None:
    cells = list(itertools.chain.from_iterable(by_campaign(PATHS).values()))
    assert len(cells) == len(set(cells)) >= LEAST_CELLS


@pytest.mark.parametrize("campaign", LAYOUTS)
def test_every_layout_is_among_them(campaign: str) -> None:
    assert {layout for _, _, layout in by_campaign(PATHS).get(campaign, {})} == LAYOUTS[campaign]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_each_recorded_trial_is_complete(path: Path) -> None:
    _, trials = recordings.read(path)
    assert trials
    for trial in trials:
        assert trial.seconds >= LEAST_S - 2 * trial.interval_s, (trial.layout, trial.workload, trial.trial)
        assert min(trial.values) >= 0 < trial.mean


def test_the_replay_is_within_its_limits() -> None:
    broken = [result.line() for result in measure() if not result.is_ok]
    assert not broken, "\n".join(broken)


def test_the_docs_show_what_the_replay_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["replay", "--proof"])
    assert main() == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") > 10
    assert f"$ python -m benchmarks.replay --proof\n{printed}" in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("most_s", [3, 5, 8, 15])
def test_intervals_of_imprecise_trials_cover_the_truth_as_the_docs_say(most_s: int) -> None:
    """Layouts are compared by such trials, so their confidence intervals must be valid."""
    rounds = rounds_of(replace(PROOF, max_s=most_s, trials_min=2))
    kinds = held_by_kind(itertools.chain.from_iterable(rounds))
    row = " | ".join(f"{sum(held)} of {len(held)}" for held in kinds)
    assert f"| {most_s} s | {row} |" in STOPPING.read_text(encoding="utf-8")
    _, imprecise, changing, reaching = kinds
    assert sum(imprecise) / len(imprecise) >= 0.85
    assert len(reaching) == len(changing) and sum(reaching) / len(reaching) >= 0.92
    assert most_s > 5 or sum(reaching) > sum(changing)
