"""Format values, verdicts and differences."""

from collections.abc import Iterable, Sequence

from poolproof.campaign.emulation import emulation_note
from poolproof.campaign.model import Measure
from poolproof.load.generator import generator_versions
from poolproof.metrics import LOWER_IS_BETTER, MetricId, metric_of
from poolproof.results.runs.few_events import TOO_FEW, few_events
from poolproof.results.runs.model import RunRecord, Trial
from poolproof.results.runs.summary import Cell
from poolproof.statistics.intervals import CONFIDENCE, Interval
from poolproof.statistics.two_groups import ValueGroup
from poolproof.units import format_number_of
from poolproof.verdicts import Verdict

MARKS: dict[Verdict, str] = {"sound": "✓", "unproven": "?", "suspect": "!", "refuted": "✗", "failed": "–"}
"""The symbol for each verdict. The symbols can be told apart without colour."""

STYLES: dict[Verdict, str] = {
    "sound": "green",
    "unproven": "yellow",
    "suspect": "yellow",
    "refuted": "red",
    "failed": "bright_black",
}

_FARTHEST = 100.0
_SHOWN_AS_RATIO = 2.0
_IN_PER_CENT = 10.0  # the largest factor that a bound may have in per cent


def which_is_better(metric: MetricId) -> str:
    """Return `lower is better` for metrics such as latencies, and an empty string for all others."""
    return "lower is better" if metric in LOWER_IS_BETTER else ""


def value_text(value: float, metric: MetricId) -> str:
    """Format a value with its unit, for example as `131 IOPS`, `183 MB/s` or `1.25 ms`."""
    return metric_of(metric).unit.text(value)


def marked(verdict: Verdict, text: str = "{}") -> str:
    """Return the symbol and the name of a verdict, such as `! suspect`, inserted into `text`. Empty for `sound`."""
    return "" if verdict == "sound" else text.format(f"{MARKS[verdict]} {verdict}")


def with_mark(name: str, verdict: Verdict) -> str:
    """Return a layout's name, followed by its verdict unless that is `sound`: `pair (! suspect)`."""
    return name + marked(verdict, " ({})")


def emulated_mark(cell: Cell) -> str:
    """Return `*` if the cell uses emulated disks, otherwise an empty string."""
    return "*" if cell.emulated else ""


def emulated_legend(cells: Iterable[Cell]) -> str:
    """Return an explanation of the symbol `*`, or an empty string if no cell uses emulated disks."""
    models = sorted({model for cell in cells for model in cell.emulated})
    return f"* {emulation_note(models)}" if models else ""


def builds_text(cells: Iterable[Cell]) -> str:
    """Return the number of builds of the cells: `4 builds`, or `up to 4 builds` if some have fewer."""
    numbers = {cell.builds for cell in cells}
    return f"{'up to ' * (len(numbers) > 1)}{format_number_of(max(numbers), 'build')}"


def trial_text(trial: Trial) -> str:
    """Format a trial's result, or return `no result`.

    The text also says if the trial did not converge or has too few events.
    """
    value, settling = trial.result().value, trial.settling
    if value is None:
        return "no result"
    text = value_text(value, trial.metric)
    text += f", {TOO_FEW}" if few_events([trial], trial.metric) is not None else ""
    if settling is None or settling.settled:
        return text
    return f"about {text}, not converged ({', '.join(reason.name for reason in settling.reasons)})"


def half_width_text(interval: Interval) -> str:
    """Format half the width of the confidence interval relative to the mean, for example as `1.5%`.

    Without an interval, return an empty string.
    """
    half = interval.half_width
    return "" if half is None or not interval.mean else per_cent(half / interval.mean)


def some_of(texts: Sequence[str], most: int, joint: str = ", ", more: str = " and {} more") -> str:
    """Join at most `most` of the strings. If there are more, append the number of remaining ones."""
    left = len(texts) - most
    return joint.join(texts[:most]) + (more.format(left) if left > 0 else "")


def versions_text(record: RunRecord, *more: str) -> str:
    """Return the versions of poolproof, the load generators and the kernel, followed by `more`, as text.

    Empty strings are skipped.
    """
    versions = [f"poolproof {record.poolproof}", *generator_versions(record.versions), record.facts.get("kernel", "")]
    return ", ".join(filter(None, (*versions, *more)))


def groups_text(groups: Sequence[ValueGroup], metric: MetricId) -> str:
    """Format groups of trials, for example as `12 MB/s ×2 and 240 MB/s ×1`."""
    return " and ".join(f"{value_text(group.mean, metric)} ×{group.count}" for group in groups)


def per_cent(share: float) -> str:
    """Format a fraction in per cent, for example as `1.5%` or `12%`."""
    value = share * 100
    return f"{value:.0f}%" if value >= 10 else f"{value:.1f}%"


def per_cent_whole(share: float) -> str:
    """Format a fraction in per cent as a user would type it, for example `2%` or `0.5%`."""
    return f"{share * 100:.3g}%"


def speed_text(speed: Interval) -> str:
    """Format a relative speed with its confidence interval, for example as `−16% (−41 … +19)`.

    Higher is always better, so half the latency is shown as `2× faster`. Speeds that differ by a factor of 2 or more
    are shown as a ratio, such as `2.8× slower (2.6 … 3.1)`. If such an interval also contains 1, or if a bound differs
    by a factor of 10 or more from a speed near 1, each bound is written in full: `4× faster (−20% … 20× faster)`.
    Bounds are capped at a factor of 100 from the mean: `4× faster (>25× slower … >400× faster)`.
    """
    text = _one_speed(speed.mean)
    if speed.low is None or speed.high is None:
        return text
    low, high = _capped(speed.low, speed.mean), _capped(speed.high, speed.mean)
    less, more = "<" * (speed.low < low), ">" * (speed.high > high)
    if speed.mean >= _SHOWN_AS_RATIO and speed.low >= 1:
        return f"{text} ({less}{_ratio(low)} … {more}{_ratio(high)})"
    if 0 < speed.mean <= 1 / _SHOWN_AS_RATIO and speed.high <= 1:
        return f"{text} ({'<' * bool(more)}{_ratio(1 / high)} … {'>' * bool(less)}{_ratio(1 / low)})"
    if 1 / _SHOWN_AS_RATIO < speed.mean < _SHOWN_AS_RATIO and low > 1 / _IN_PER_CENT and high < _IN_PER_CENT:
        return f"{text} ({_change(low)} … {_change(high)})"
    bounds = [_bound(low, less), _bound(high, more)]
    return f"{text} ({' … '.join(reversed(bounds) if speed.mean <= 1 / _SHOWN_AS_RATIO else bounds)})"


def _capped(bound: float, mean: float) -> float:
    return min(max(bound, mean / _FARTHEST), mean * _FARTHEST)


def _one_speed(speed: float) -> str:
    if speed >= _SHOWN_AS_RATIO:
        return f"{_ratio(speed)}× faster"
    return f"{_ratio(1 / speed)}× slower" if 0 < speed <= 1 / _SHOWN_AS_RATIO else f"{_change(speed)}%"


def _ratio(ratio: float) -> str:
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}"


def _bound(speed: float, mark: str) -> str:
    """Format a bound. `mark`: `<` or `>` for a capped bound. A ratio that is more than `20× slower` also gets `>`."""
    text = _one_speed(speed)
    return f">{text}" if mark and "×" in text else mark + text


def range_text(speed: Interval) -> str:
    """Format the interval of a relative speed, such as `−2% … +8%` or `3.1× slower … 2.6× slower`.

    Bounds are capped as in `speed_text`. Without an interval, return an empty string.
    """
    if speed.low is None or speed.high is None:
        return ""
    if speed.mean <= 0:
        return "no rate"
    low, high = _capped(speed.low, speed.mean), _capped(speed.high, speed.mean)
    return f"{_bound(low, '<' * (speed.low < low))} … {_bound(high, '>' * (speed.high > high))}"


def _change(speed: float) -> str:
    return f"{(speed - 1) * 100:+.0f}".replace("-", "−")


def confidence_text(measure: Measure) -> str:
    """Return the campaign's confidence level as text, or `95%` if it doesn't set one."""
    return f"{100 * (measure.until.confidence if measure.until else CONFIDENCE):.6g}%"
