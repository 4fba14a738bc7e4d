"""SNIA's and fio's own steady state."""

import json
from pathlib import Path
from typing import Any

import pytest

from poolproof.stopping.decide import decide
from poolproof.stopping.fio_steady import rate_of
from poolproof.stopping.model import RateSeries, Steady, StoppingDecision, StoppingRule

SNIA = StoppingRule(min_s=1, max_s=250, steady="snia")  # rounds of 10 s


def _rounds(*means: float, rule: StoppingRule = SNIA) -> StoppingDecision:
    return decide(RateSeries(1.0, tuple(mean for mean in means for _ in range(10))), rule)


def _seconds(rates: list[float], steady: Steady, until: float = 0.03) -> StoppingDecision:
    return decide(
        RateSeries(0.5, tuple(rate for rate in rates for _ in range(2))), StoppingRule(until=until, steady=steady)
    )


def test_snia_asks_for_five_rounds() -> None:
    decision = _rounds(100, 100, 100, 100)
    assert not decision.done and decision.next_s == 50
    assert [reason.name for reason in decision.reasons] == ["too-short"]


def test_snia_allows_twenty_per_cent_between_rounds() -> None:
    assert _rounds(100, 110, 91, 109, 92).settled
    assert not _rounds(100, 111, 90, 110, 90).settled


def test_snia_allows_a_line_of_ten_per_cent() -> None:
    assert _rounds(95.1, 97.5, 100, 102.5, 104.9).settled
    decision = _rounds(94, 97, 100, 103, 106)
    assert not decision.settled
    assert decision.reasons[0].figures["slope"] == pytest.approx(0.12)


def test_snia_looks_at_the_last_five_rounds_only() -> None:
    decision = _rounds(300, 200, 150, 100, 101, 100, 99, 100)
    assert decision.settled and decision.warmup_s == 30 and decision.used_s == 80
    assert decision.mean == pytest.approx(100)


def test_snia_gives_up_after_twenty_five_rounds() -> None:
    means = [100.0 * 1.1**number for number in range(25)]
    assert not _rounds(*means[:24]).done
    decision = _rounds(*means)
    assert decision.done and not decision.settled and decision.low is None


def test_fio_wants_every_second_of_its_window_near_the_mean() -> None:
    assert _seconds([100, 102, 98] * 4, "fio").settled
    decision = _seconds([100, 102, 95] * 4, "fio")
    assert not decision.settled
    assert decision.reasons[0].figures["off"] == pytest.approx(0.037, abs=0.001)


def test_fio_forgets_what_left_its_window() -> None:
    decision = _seconds([10.0] * 5 + [100.0] * 10, "fio")
    assert decision.settled and decision.warmup_s == 5 and decision.mean == 100


def test_fio_s_slope_is_per_second() -> None:
    rising = [100.0 + 2 * number for number in range(10)]
    assert _seconds(rising, "fio-slope", until=0.02).settled
    assert not _seconds(rising, "fio-slope", until=0.015).settled
    assert not _seconds(rising, "fio").settled


def test_fio_ends_at_the_most() -> None:
    decision = decide(RateSeries(1.0, tuple(float(n % 2) for n in range(20))), StoppingRule(max_s=20, steady="fio"))
    assert decision.done and not decision.settled and decision.next_s is None


CAPTURED = Path(__file__).parent / "captured" / "fio-3.33-steadystate.json"
RUNS: list[dict[str, Any]] = json.loads(CAPTURED.read_text(encoding="utf-8"))["steadystate"]


@pytest.mark.parametrize("run", RUNS, ids=[run["ss"] for run in RUNS])
def test_fio_itself_says_the_same_of_the_same_seconds(run: dict[str, Any]) -> None:
    name, _, limit = run["ss"].partition(":")
    steady: Steady = f"fio-{name.replace('_', '-')}"  # type: ignore[assignment]  # one of its four
    seconds = [float(value) for value in run["data"]["iops" if rate_of(steady) == "ios" else "bw"]]
    until = float(limit.rstrip("%")) / 100
    decision = _seconds(seconds, steady, until)
    assert decision.settled == bool(run["attained"])
    if not decision.settled and "slope" not in name:  # a ring that has turned lies in fio's report out of order
        assert decision.reasons[0].figures["off"] == pytest.approx(float(run["criterion"].rstrip("%")) / 100, rel=0.01)


def test_a_criterion_of_fio_names_its_rate_or_takes_the_workload_s() -> None:
    assert [rate_of(steady) for steady in ("fio", "fio-slope", "fio-iops", "fio-bw-slope")] == [
        None,
        None,
        "ios",
        "bytes",
    ]
