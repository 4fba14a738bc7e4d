"""What may have changed between the parts of a resumed run, for every output that uses its trials.

A resume is recorded with the facts and versions that had changed. A machine can also become faster without any of them
changing, so the speeds before and after each resume are compared too.
"""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from poolproof.metrics import LOWER_IS_BETTER
from poolproof.results.runs.cell_builds import counting
from poolproof.results.runs.convergence import by_cell
from poolproof.results.runs.model import RunRecord, Trial
from poolproof.statistics.comparison import LEAST_EFFECT
from poolproof.statistics.distributions import t_half_width
from poolproof.statistics.intervals import standard_error
from poolproof.units import format_number, parse_date, shown_bytes

_CONFIDENCE = 0.99
_LEAST_CELLS = 4
_MOST_RESUMES = 20


def machine_changes(before: RunRecord, now: RunRecord) -> Mapping[str, str]:
    """Return the facts and versions that differ between two records, each mapped to `old → new`.

    Facts and versions missing from either record are ignored, and so is the machine's ID.
    """
    changes = {}
    for old, new in ((before.facts, now.facts), (before.versions, now.versions)):
        for key, value in old.items():
            # every new lab has another `machine`, and a run without a lab is never resumed on another machine
            if key != "machine" and new.get(key, value) != value:
                was, became = (shown_bytes(each) if key.endswith("_bytes") else each for each in (value, new[key]))
                changes[key.removesuffix("_bytes").replace("_", " ")] = f"{was} → {became}"
    return changes


def changes_text(changes: Mapping[str, str]) -> str:
    """Return a sentence naming the changes, or an empty string if there are none."""
    if not changes:
        return ""
    listed = "; ".join(f"{name}: {change}" for name, change in changes.items())
    return (
        f"The machine changed before the run was resumed ({listed}), which may explain differences between trials "
        "before and after that point."
    )


def resumes_text(record: RunRecord, trials: Sequence[Trial]) -> str:
    """Return what may have changed between the parts of a resumed run, or an empty string if nothing did.

    Only the trials on which the results are based are considered.
    """
    texts = [changes_text(record.changes)]
    parted = 0
    cells = by_cell(trials, dict.fromkeys(trial.cell_key for trial in trials)) if record.resumed_at else {}
    dated = [(trial.begun_s, trial) for cell in cells.values() for trial in counting(cell)]
    for at in record.resumed_at[-_MOST_RESUMES:]:
        resumed_s = parse_date(at)
        before = [trial for begun_s, trial in dated if 0 < begun_s < resumed_s]
        if len(before) > parted:  # avoids repeating a text if nothing was measured between two resumes
            after = [trial for begun_s, trial in dated if begun_s >= resumed_s]
            texts += _of_resume(at[:16].replace("T", " "), before, after)
        parted = max(parted, len(before))
    return " ".join(filter(None, texts))


def _of_resume(when: str, before: Sequence[Trial], after: Sequence[Trial]) -> Iterator[str]:
    parts = [dict.fromkeys(trial.layout for trial in part) for part in (before, after)]
    only_before, only_after = ([name for name in own if name not in other] for own, other in (parts, parts[::-1]))
    if only_before and only_after:
        yield (
            f"{', '.join(only_before)} had been measured before the run was resumed ({when}), {', '.join(only_after)} "
            "only afterwards. If the machine changed in between, the change looks like a difference between these "
            "layouts."
        )
    mean, half = _change(before, after)
    if abs(mean) - half > math.log1p(LEAST_EFFECT):
        size = abs(mean)
        logs = (math.copysign(log, mean) for log in (size - half, size, size + half))
        is_ratio = size >= math.log(2) - 1e-9
        low, change, high = (
            f"{format_number(math.exp(abs(log)), 3)}×" if is_ratio else f"{abs(math.expm1(log)):.0%}" for log in logs
        )
        yield (
            f"After the run was resumed ({when}), the same layouts were {change} "
            f"{'faster' if mean > 0 else 'slower'} than before ({low} to {high}, at {_CONFIDENCE:.0%} "
            "confidence). This may explain differences between layouts. Measure them again in a new run."
        )


def _change(before: Sequence[Trial], after: Sequence[Trial]) -> tuple[float, float]:
    """Return the mean change of the logarithmic speed of all cells with trials in both parts, and its half width.

    The half width is that of Student's t over the cells, and infinite if there are too few of them.
    """
    speeds = [_log_speeds(part) for part in (before, after)]
    both = [(logs, speeds[1][key]) for key, logs in speeds[0].items() if key in speeds[1]]
    changes = [statistics.fmean(later) - statistics.fmean(earlier) for earlier, later in both]
    if len(changes) < _LEAST_CELLS:
        return 0.0, math.inf
    return statistics.fmean(changes), t_half_width(standard_error(changes), len(changes) - 1, _CONFIDENCE)


def _log_speeds(trials: Sequence[Trial]) -> dict[tuple[str, ...], list[float]]:
    found: dict[tuple[str, ...], list[float]] = {}
    for trial in trials:
        result = trial.result()
        if result.counts and result.value:
            log = math.log(result.value)
            found.setdefault(tuple(trial.cell_key), []).append(-log if trial.metric in LOWER_IS_BETTER else log)
    return found
