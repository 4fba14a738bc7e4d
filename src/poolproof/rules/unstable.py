"""A rate that is no single number."""

from collections.abc import Iterable
from functools import partial

from poolproof.rules.flow import proves
from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.rules.reproduction import script
from poolproof.units import format_rate

_SAMPLES = 10
_UNEVEN = 0.3
_WILD = 1.0


def _in_result(case: Case) -> Iterable[Finding]:
    return each_part(case.outcome, partial(_of_part, case))


def _of_part(case: Case, part: ReportedDirection) -> Finding | None:
    spread = _spread(part)
    if spread is None or spread <= _UNEVEN:
        return None
    figures = part.figures
    low, high = figures.bandwidth_min_bytes, figures.bandwidth_max_bytes
    span = f", from {format_rate(low)} to {format_rate(high)}" if low is not None and high is not None else ""
    return Finding(
        rule="unstable",
        effect="suspects" if spread > _WILD and not proves(case) else "notes",
        message=f"the {part.kind} rate swings by {100 * spread:.0f} % of its mean of "
        f"{format_rate(figures.bandwidth_mean_bytes or 0)}{span} ({figures.samples} samples): no single number "
        "stands for it",
        fix="ramp_time=15, a longer runtime, or steadystate=iops_slope:1% with ss_dur=60; look at the rate over time",
        weight=40,
    )


def _spread(part: ReportedDirection) -> float | None:
    """Standard deviation over mean of fio's samples (every 500 ms); None where there are too few of them."""
    figures = part.figures
    if (figures.samples or 0) < _SAMPLES or not figures.bandwidth_mean_bytes or figures.bandwidth_stddev_bytes is None:
        return None
    return figures.bandwidth_stddev_bytes / figures.bandwidth_mean_bytes


RULE = Rule(
    id="unstable",
    title="The rate is not steady",
    wrong="A mean over a burst and a crawl describes neither: caches filled, a txg closed, a drive grew hot.",
    shows="In a result with 10 samples or more: the standard deviation is over 30 % of the mean. Over 100 %, and "
    "without counters that prove the bytes, it raises doubt.",
    error="Either way. Inflated results had 120 to 190 %.",
    fix="A ramp and a longer run; report the rate over time.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (steadystate)",),
    pitfall_numbers="A10, #14, #39",
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=write --bs=1m --size=4g --time_based --runtime=30"),
)
