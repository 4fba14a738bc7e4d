"""Claims and results: held within the tolerance, failed outside, undecided if the interval includes the limit."""

import pytest

from poolproof.campaign.claims import Claim, parse_claim
from poolproof.campaign.document import Spot
from poolproof.campaign.flags import campaign_from_flags
from poolproof.evidence.model import Account, LeafUse
from poolproof.results.runs.claim_results import evaluate
from poolproof.results.runs.model import Trial, TrialMetrics
from poolproof.results.runs.summary import cells_of
from poolproof.verdicts import Verdict

CAMPAIGN = campaign_from_flags(
    ["raw=a | ext4", "mirror=btrfs raid1 a b"], ["a=file:1G", "b=file:1G"], ["reads:rw=randread,bs=4k"]
)


def trial(layout: str, number: int, iops: float, a_share: float = 0.5, verdict: Verdict = "sound") -> Trial:
    return Trial(
        layout=layout,
        workload="reads",
        number=number,
        verdict=verdict,
        findings=(),
        metric="iops",
        figures=TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096, p99_ns=5e6),
        account=Account(1000, 0, 500, 0, 0, 1.0, 1.0, 0.0),
        leaves=(
            LeafUse("a", round(1000 * a_share), 0, 0, 1, 0, 0, 0.9, None),
            LeafUse("b", round(1000 * (1 - a_share)), 0, 0, 1, 0, 0, 0.1, None),
        ),
        stored_bytes={"a": 300, "b": 100},
    )


TRIALS = [
    *(trial("raw", number, iops, 1.0) for number, iops in enumerate((100.0, 101.0, 102.0), start=1)),
    *(trial("mirror", number, iops, 0.49 + number / 100) for number, iops in enumerate((198.0, 202.0, 206.0), start=1)),
]


def result(text: str, trials: list[Trial] = TRIALS) -> str:
    claim = Claim("somebody says", "somewhere", text, parse_claim(text, Spot("x")))
    (held,) = evaluate((claim,), cells_of(trials, CAMPAIGN))
    return held.result if not held.why or held.result != "undecided" else f"undecided: {held.why}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read_share(mirror, reads, a) = 50% ± 10%", "held"),
        ("read_share(mirror, reads, a) = 75% ± 10%", "failed"),
        ("read_share(mirror, reads, a) = 51% ± 1%", "undecided"),
        ("stored_share(mirror, reads, a) = 75%", "held"),
        ("utilisation(mirror, reads, a) > 80%", "held"),
        ("iops(mirror, reads) / iops(raw, reads) = 2 ± 10%", "held"),
        ("iops(mirror, reads) / iops(raw, reads) > 3", "failed"),
        ("iops(mirror, reads) > 202", "undecided"),
        ("iops(mirror, reads) - iops(raw, reads) > 50", "held"),
        ("iops(raw, reads) * 2 < iops(mirror, reads) * 2", "held"),
        ("p99(raw, reads) = 5ms ± 3%", "held"),
        (
            "p99(raw, reads) = 5ms",
            "undecided: reads on raw: all 3 trials agree to the last digit, so they do not show how much trials vary: "
            "the interval is at least the resolution of the measurement (the width of a histogram bin)",
        ),
        ("bandwidth(raw, reads) < 1MB/s", "held"),
        ("read_ratio(raw, reads) = 0.5", "held"),
        ("verdict(raw, reads) is sound", "held"),
        ("verdict(raw, reads) is refuted", "failed"),
    ],
)
def test_results(text: str, expected: str) -> None:
    assert result(text) == expected


def test_a_refuted_rate_decides_nothing_but_its_byte_ratio_counts() -> None:
    refuted = [trial("raw", number, 9000.0, verdict="refuted") for number in (1, 2)]
    assert result("iops(raw, reads) > 5000", refuted) == "undecided: reads on raw is refuted"
    assert result("read_ratio(raw, reads) < 0.9", refuted) == "held"


def test_a_claim_about_an_unmeasured_cell_is_undecided() -> None:
    assert result("iops(mirror, reads) > 1", TRIALS[:3]) == "undecided: reads on mirror was not measured"


def test_a_single_trial_decides_byte_counts_but_not_rates() -> None:
    undecided = result("iops(raw, reads) = 100 ± 1%", TRIALS[:1])
    assert undecided.startswith("undecided: iops of reads on raw comes from a single trial")
    assert result("read_ratio(raw, reads) = 0.5", TRIALS[:1]) == "held"
