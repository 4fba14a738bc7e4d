"""The `measure` part of a campaign file."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Literal, get_args

from poolproof.campaign.document import (
    Node,
    Scalar,
    Spot,
    YamlMapping,
    expect_flag,
    expect_mapping,
    expect_scalar,
    unknown_key,
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
"""How many trials a cell has with `until`, at least and at most, unless the campaign says."""

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
        CampaignError: an unknown key, a value of a wrong type or out of its range, `time` beside `until`.
    """
    table = expect_mapping(node, "`measure`", _EXAMPLE)
    for key, _ in table.entries:
        if key.text not in KEYS:
            raise unknown_key(key, KEYS, "`measure`")
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
    """A trial lasts a time, or until its figure is known; and only the second has an interval and a limit."""
    asked = [key for key, _ in table.entries if key.text in UNTIL_KEYS]
    if not asked:
        return
    first = asked[0]
    if table.get("time") is not None:
        raise table.spot_of("time").mistake(
            f"`time` and `{first.text}` were given: a trial lasts a time, or until its figure is known",
            "leave one of them out",
        )
    if table.get("until") is None and default.until is None:
        raise first.spot.mistake(f"`{first.text}` says nothing without `until`", "write until: 3% beside it")


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
            f"max is below min: a trial lasts {until.min_s:g} s at least (`min`) and {until.max_s:g} s at most (`max`)",
            f"write max: {max(180.0, until.min_s):g}s",
        )
    return until


def _tolerance(text: str, spot: Spot) -> float:
    """A share of the mean, from `3%`: more than nothing, at most half."""
    share = _share(text)
    if share is None or not 0 < share <= _WIDEST:
        raise spot.mistake(
            f"expected how far from the truth a figure may be, in per cent of it, at most 50%, found `{text[:60]}`",
            f"write until: {_meant(text) or '3%'}",
        )
    return float(share)


def _confidence(text: str, spot: Spot) -> float:
    """How often an interval holds the truth, from `95%`: from half to less than always.

    With so many nines that a float can't tell it from always, or its upper tail from none, it is always.
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
    """`3%` for a bare `3`: what was left out."""
    return f"{text.strip()}%" if re.fullmatch(r"[1-9]\d?(\.\d{1,3})?", text.strip()) else ""


def duration(text: str, spot: Spot, what: str = "time") -> float:
    """Seconds of one trial: more than none, at most a week. `what` is the key that it stands after."""
    try:
        seconds = parse_duration(text)
    except (ValueError, OverflowError):
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        example = "2h" if what == "budget" else "10s"
        raise spot.mistake(f"expected {_WHICH_TIME[what]}, at most 7d, found `{text[:60]}`", f"write {what}: {example}")
    return seconds


_WHICH_TIME = {
    "time": "the time of a trial",
    "min": "the shortest time of a trial",
    "max": "the longest time of a trial",
    "budget": "the time of all trials together",
}


def _range(text: str, spot: Spot) -> tuple[int, int | None]:
    """From `2..6` the least and the most trials of a cell; from `3` that many, and None."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return _whole(text, "trials", 1, MOST_TRIALS, spot), None
    least, most = (_whole(part, "trials", 1, MOST_TRIALS, spot, example="2..6") for part in match.groups())
    if most < least:
        raise spot.mistake(f"`{text[:60]}`: the most trials are fewer than the least", f"write trials: {most}..{least}")
    return least, most


def _trials(given: Given, until: Until | None, default: Measure) -> tuple[int, int | None]:
    """The least and the most; None where they are the same number."""
    if "trials" not in given:
        return _default_trials(until, default)
    scalar = expect_scalar(given["trials"], "a whole number after `trials`", "write trials: 3")
    least, most = _range(scalar.text, scalar.spot)
    if most is not None and until is None:
        raise scalar.spot.mistake(
            f"`{scalar.text[:60]}`: only with `until` can it be told whether more trials are needed",
            f"write trials: {least}, or until: 3% beside it",
        )
    return least, most


def _default_trials(until: Until | None, default: Measure) -> tuple[int, int | None]:
    if until is None:
        return default.trials, None
    return (default.trials, default.most_trials) if default.until is not None else UNTIL_TRIALS


def _time(node: Node) -> float:
    scalar = expect_scalar(node, "the time of a trial", "write time: 10s")
    return duration(scalar.text, scalar.spot)


def _bound(node: Node, key: str) -> float:
    scalar = expect_scalar(node, _WHICH_TIME[key], f"write {key}: 10s")
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
            "leave `steady` out, or write steady: snia",
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
