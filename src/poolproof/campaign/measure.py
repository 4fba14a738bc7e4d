"""Read the `measure` section of a campaign file."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Literal, get_args

from poolproof.campaign.document import (
    Node,
    Scalar,
    Spot,
    YamlMapping,
    check_keys,
    expect_flag,
    expect_mapping,
    expect_scalar,
)
from poolproof.campaign.model import Measure, Until
from poolproof.campaign.names import did_you_mean, listed
from poolproof.stopping.model import Steady
from poolproof.units import parse_duration

UNTIL_KEYS = ("until", "confidence", "min", "max", "steady")
KEYS = ("time", *UNTIL_KEYS, "trials", "cold", "seed", "calibrate")
LONGEST_S = 7 * 86400
MOST_TRIALS = 10_000
UNTIL_TRIALS = (2, 6)
"""Default minimum and maximum number of trials of a cell with `until`."""

_STEADY: tuple[Steady, ...] = get_args(Steady)
_REMOVED_STEADY = ("fio", "fio-slope", "fio-iops", "fio-iops-slope", "fio-bw", "fio-bw-slope")
"""Criteria of earlier versions, which recorded campaigns may name."""
_EXAMPLE = "write measure: {time: 10s, trials: 3}"
_WIDEST = Decimal("0.5")
_LEAST_CONFIDENCE = Decimal("0.5")
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,40})?)\s*%")
_RANGE = re.compile(r"\s*(.*?)\s*\.\.\s*(.*?)\s*")

Given = Mapping[str, Node]


def read_measure(node: Node, default: Measure | None = None, *, recorded: bool = False) -> Measure:
    """Return how each cell is measured; keys that are not given are as in `default`.

    `recorded`: the campaign is that of a run; a criterion that earlier versions had is read as `poolproof`.

    Raises:
        CampaignError: an unknown key, a value of the wrong type or out of range, or `time` together with `until`.
    """
    table = expect_mapping(node, "`measure`", _EXAMPLE)
    check_keys(table, KEYS, "`measure`")
    given = {key.text: value for key, value in table.entries}
    default = default or Measure()
    _refuse_contradiction(table, default)
    until = None if "time" in given else _until(given, default.until, recorded=recorded)
    least, most = _trials(given, until, default)
    return Measure(
        time_s=_time(given["time"]) if "time" in given else default.time_s,
        trials=least,
        cold=_cold(given["cold"]) if "cold" in given else default.cold,
        seed=_count(given["seed"], "seed", 0, 2**63 - 1) if "seed" in given else default.seed,
        most_trials=most,
        until=until,
        calibrate=expect_flag(given["calibrate"], "calibrate") if "calibrate" in given else default.calibrate,
    )


def _cold(node: Node) -> bool | Literal["reads"]:
    if isinstance(node, Scalar) and node.text == "reads":
        return "reads"
    return expect_flag(node, "cold", "true, false or reads")


def _refuse_contradiction(table: YamlMapping, default: Measure) -> None:
    """Refuse `time` together with `until`, and the options of `until` without it."""
    asked = [key for key, _ in table.entries if key.text in UNTIL_KEYS]
    if not asked:
        return
    first = asked[0]
    if table.get("time") is not None:
        raise table.spot_of("time").mistake(
            f"`time` and `{first.text}` exclude each other: a trial has a fixed time or runs until it is precise",
            "remove one of them",
        )
    if table.get("until") is None and default.until is None:
        raise first.spot.mistake(f"`{first.text}` has no effect without `until`", "add until: 3%")


def _until(given: Given, default: Until | None, *, recorded: bool) -> Until | None:
    if "until" not in given and default is None:
        return None
    base = default or Until()
    until = Until(
        _percent_of(given["until"], _tolerance, "until: 3%") if "until" in given else base.tolerance,
        _percent_of(given["confidence"], _confidence, "confidence: 95%") if "confidence" in given else base.confidence,
        _bound(given["min"], "min") if "min" in given else base.min_s,
        _bound(given["max"], "max") if "max" in given else base.max_s,
        _steady(given["steady"], recorded=recorded) if "steady" in given else base.steady,
    )
    if until.max_s < until.min_s:
        raise (given.get("max") or given["min"]).spot.mistake(
            f"`max` ({until.max_s:g} s) is less than `min` ({until.min_s:g} s)",
            f"write max: {max(180.0, until.min_s):g}s",
        )
    return until


def _tolerance(text: str, spot: Spot) -> float:
    """Return the tolerance as a share: `3%` is 0.03. More than 0, at most 0.5."""
    share = _share(text)
    if share is None or not 0 < share <= _WIDEST:
        raise spot.mistake(
            f"expected a tolerance of more than 0% and at most 50%, found `{text[:60]}`",
            f"write until: {_meant(text) or '3%'}",
        )
    return float(share)


def _confidence(text: str, spot: Spot) -> float:
    """Return the confidence as a share: `95%` is 0.95. At least 0.5, less than 1.

    A value so close to 100% that a float, or its upper tail, rounds to 1 is refused too.
    """
    share = _share(text)
    if share is None or not _LEAST_CONFIDENCE <= share < 1 or (1 + float(share)) / 2 == 1:
        raise spot.mistake(
            f"expected a confidence from 50% to less than 100%, found `{text[:60]}`",
            f"write confidence: {_meant(text) or '95%'}",
        )
    return float(share)


def _share(text: str) -> Decimal | None:
    match = _PERCENT.fullmatch(text.strip())
    return Decimal(match[1]) / 100 if match else None


def _meant(text: str) -> str:
    """Return `3%` for `3`: the percent sign was forgotten. Empty for any other text."""
    return f"{text.strip()}%" if re.fullmatch(r"[1-9]\d?(\.\d{1,3})?", text.strip()) else ""


def duration(text: str, spot: Spot, what: str = "time") -> float:
    """Return a duration in seconds; raises CampaignError unless 0 < seconds <= 7 days. `what` is its key."""
    try:
        seconds = parse_duration(text)
    except (ValueError, OverflowError):
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        example = "2h" if what == "budget" else "10s"
        raise spot.mistake(f"expected {_DURATIONS[what]}, at most 7d, found `{text[:60]}`", f"write {what}: {example}")
    return seconds


_DURATIONS = {
    "time": "the duration of a trial",
    "min": "the shortest duration of a trial",
    "max": "the longest duration of a trial",
    "budget": "the duration of the whole run",
}


def _range(text: str, spot: Spot) -> tuple[int, int | None]:
    """Return the minimum and maximum of `2..6`; for a plain `3`, the number and None."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return _whole(text, "trials", 1, MOST_TRIALS, spot), None
    least, most = (_whole(part, "trials", 1, MOST_TRIALS, spot, example="2..6") for part in match.groups())
    if most < least:
        raise spot.mistake(f"`{text[:60]}`: the maximum is less than the minimum", f"write trials: {most}..{least}")
    return least, most


def _trials(given: Given, until: Until | None, default: Measure) -> tuple[int, int | None]:
    """Return the minimum and maximum number of trials; the maximum is None if the number is fixed."""
    if "trials" not in given:
        return _default_trials(until, default)
    scalar = expect_scalar(given["trials"], "a whole number after `trials`", "write trials: 3")
    least, most = _range(scalar.text, scalar.spot)
    if most is not None and until is None:
        raise scalar.spot.mistake(
            f"`{scalar.text[:60]}`: a range of trials needs `until`, which decides how many are needed",
            f"write trials: {least}, or add until: 3%",
        )
    return least, most


def _default_trials(until: Until | None, default: Measure) -> tuple[int, int | None]:
    if until is None:
        return default.trials, None
    return (default.trials, default.most_trials) if default.until is not None else UNTIL_TRIALS


def _time(node: Node) -> float:
    scalar = expect_scalar(node, _DURATIONS["time"], "write time: 10s")
    return duration(scalar.text, scalar.spot)


def _bound(node: Node, key: str) -> float:
    scalar = expect_scalar(node, _DURATIONS[key], f"write {key}: 10s")
    return duration(scalar.text, scalar.spot, key)


def _percent_of(node: Node, read: Callable[[str, Spot], float], example: str) -> float:
    scalar = expect_scalar(node, f"a percentage as in `{example}`", f"write {example}")
    return read(scalar.text, scalar.spot)


def removed_criterion(text: str) -> str:
    """Return the criterion in the text of a recorded campaign that this version no longer has; empty if none."""
    match = re.search(r"\bsteady: (fio[a-z-]*)", text)
    return match[1] if match else ""


def _steady(node: Node, *, recorded: bool) -> Steady:
    scalar = expect_scalar(node, f"{listed(_STEADY)} after `steady`", "write steady: snia")
    found = next((steady for steady in _STEADY if steady == scalar.text), None)
    if found is None and scalar.text in _REMOVED_STEADY:
        if recorded:
            return "poolproof"
        raise scalar.spot.mistake(
            f"`steady: {scalar.text}` was removed: `steady` is {listed(_STEADY)}",
            "remove `steady`, or write steady: snia",
        )
    if found is None:
        guess = did_you_mean(scalar.text, _STEADY)
        raise scalar.spot.mistake(
            f"expected {listed(_STEADY)} after `steady`, found `{scalar.text[:60]}`{guess}", "write steady: snia"
        )
    return found


def _count(node: Node, key: str, least: int, most: int) -> int:
    text = expect_scalar(node, f"a whole number after `{key}`", f"write {key}: {least + 2}").text
    return _whole(text, key, least, most, node.spot)


def _whole(text: str, key: str, least: int, most: int, spot: Spot, example: str = "") -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
    if not least <= number <= most:
        raise spot.mistake(
            f"expected a whole number from {least} to {most} after `{key}`, found `{text[:60]}`",
            f"write {key}: {example or least + 2}",
        )
    return number
