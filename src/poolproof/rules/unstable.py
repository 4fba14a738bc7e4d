"""A rate that no single value describes."""

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
        message=f"the {part.kind} rate has a standard deviation of {100 * spread:.0f} % of its mean of "
        f"{format_rate(figures.bandwidth_mean_bytes or 0)}{span} ({figures.samples} samples): no single value "
        "describes it",
        fix="ramp_time=15, a longer runtime, or steadystate=iops_slope:1% with ss_dur=60; check the rate over time",
        weight=40,
    )


def _spread(part: ReportedDirection) -> float | None:
    """Return the standard deviation of fio's samples (every 500 ms) divided by their mean; None if there are too few
    samples.
    """
    figures = part.figures
    if (figures.samples or 0) < _SAMPLES or not figures.bandwidth_mean_bytes or figures.bandwidth_stddev_bytes is None:
        return None
    return figures.bandwidth_stddev_bytes / figures.bandwidth_mean_bytes


RULE = Rule(
    id="unstable",
    title="The rate is not steady",
    wrong="The mean of a fast and a slow period describes neither: caches filled up, a transaction group closed, a "
    "drive got hot.",
    shows="In a result with at least 10 samples: the standard deviation is over 30 % of the mean. Over 100 %, "
    "without counters that prove the bytes, the result is suspect.",
    error="Either way. Inflated results had 120 to 190 %.",
    fix="Use a ramp and a longer run; report the rate over time.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (steadystate)",),
    pitfall_numbers="A10, #14, #39",
    in_result=_in_result,
    reproduce=script("fio --name=trap --filename=trap --rw=write --bs=1m --size=4g --time_based --runtime=30"),
)
