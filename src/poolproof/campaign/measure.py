"""Read the `measure` section of a campaign file."""

import re
from collections.abc import Mapping
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
KEYS = ("time", *UNTIL_KEYS, "builds", "trials", "cold", "seed", "calibrate")
LONGEST_S = 7 * 86400
MOST_TRIALS = 10_000
MOST_BUILDS = 100
UNTIL_TRIALS = (2, 6)
"""The default minimum and maximum number of trials per cell and build if the campaign uses `until`."""

_STEADY: tuple[Steady, ...] = get_args(Steady)
_REMOVED_STEADY = ("fio", "fio-slope", "fio-iops", "fio-iops-slope", "fio-bw", "fio-bw-slope")
"""Steady-state criteria that were removed from poolproof, but may occur in recorded campaigns."""
_EXAMPLE = "write measure: {time: 10s, trials: 3}"
_ADD_UNTIL = "add until: 3% (on the command line: --until 3%)"
_HALF = Decimal("0.5")
_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,40})?)\s*%")
_DURATIONS = {
    "time": "the length of a trial",
    "min": "the minimum length of a trial",
    "max": "the maximum length of a trial",
    "budget": "the time limit of the run",
    "limit": "the time limit of the program",
}

Given = Mapping[str, Node]


def read_measure(node: Node, default: Measure | None = None, *, recorded: bool = False) -> Measure:
    """Read the `measure` section, which defines how each cell is measured.

    `default`: the values of missing keys.
    `recorded`: True if the campaign is part of a run. In such campaigns, removed steady-state criteria are replaced
    with `poolproof`.

    Raises a CampaignError if a key is unknown, a value has the wrong type or is out of range, or two keys contradict
    each other.
    """
    table = expect_mapping(node, "`measure`", _EXAMPLE)
    check_keys(table, KEYS, "`measure`")
    given = {key.text: value for key, value in table.entries}
    default = default or Measure(is_default_time=True)
    _refuse_contradiction(table, default)
    until = None if "time" in given else _until(given, default.until, recorded=recorded)
    least, most = _trials(given, until, default)
    return Measure(
        time_s=_duration_of(given["time"], "time") if "time" in given else default.time_s,
        is_default_time="time" not in given and default.is_default_time,
        trials=least,
        cold=_cold(given["cold"]) if "cold" in given else default.cold,
        seed=_seed(given["seed"]) if "seed" in given else default.seed,
        most_trials=most,
        until=until,
        calibrate=expect_flag(given["calibrate"], "calibrate") if "calibrate" in given else default.calibrate,
        builds=_builds(given["builds"]) if "builds" in given else default.builds,
    )


def duration(text: str, spot: Spot, what: str = "time") -> float:
    """Parse the duration given for the key `what`, and return it in seconds.

    Raises a CampaignError if `text` is not a duration, or the duration is 0 or more than 7 days.
    """
    try:
        seconds = parse_duration(text)
    except (ValueError, OverflowError):
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        example = "2h" if what == "budget" else "10s"
        raise spot.mistake(f"expected {_DURATIONS[what]}, at most 7d, found `{text[:60]}`", f"write {what}: {example}")
    return seconds


def removed_criterion(text: str) -> str:
    """Return a recorded campaign's steady-state criterion if it is one of fio's, otherwise an empty string.

    fio's criteria were removed from poolproof.
    """
    match = re.search(r"\bsteady: (fio[a-z-]*)", text)
    return match[1] if match else ""


def _cold(node: Node) -> bool | Literal["reads"]:
    if isinstance(node, Scalar) and node.text == "reads":
        return "reads"
    return expect_flag(node, "cold", "true, false or reads")


def _seed(node: Node) -> int:
    text = expect_scalar(node, "a whole number after `seed`", "write seed: 2").text
    return _whole(text, "seed", 0, 2**63 - 1, node.spot, "2")


def _builds(node: Node) -> int:
    text = expect_scalar(node, "a whole number after `builds`", "write builds: 2").text
    return _whole(text, "builds", 1, MOST_BUILDS, node.spot, "2")


def _refuse_contradiction(table: YamlMapping, default: Measure) -> None:
    """Raise a CampaignError if `time` and `until` are combined, or if an option of `until` is used without `until`."""
    first = next((key for key, _ in table.entries if key.text in UNTIL_KEYS), None)
    if first is None:
        return
    if table.get("time") is not None:
        raise table.spot_of("time").mistake(
            f"`time` and `{first.text}` can't be combined: a trial either has a fixed length or runs until its result "
            "is precise",
            "remove one of them",
        )
    if table.get("until") is None and default.until is None:
        raise first.spot.mistake(f"`{first.text}` has no effect without `until`", _ADD_UNTIL)


def _until(given: Given, default: Until | None, *, recorded: bool) -> Until | None:
    if "until" not in given and default is None:
        return None
    base = default or Until()
    until = Until(
        _tolerance(given["until"]) if "until" in given else base.tolerance,
        _confidence(given["confidence"]) if "confidence" in given else base.confidence,
        _duration_of(given["min"], "min") if "min" in given else base.min_s,
        _duration_of(given["max"], "max") if "max" in given else base.max_s,
        _steady(given["steady"], recorded=recorded) if "steady" in given else base.steady,
    )
    if until.max_s < until.min_s:
        raise (given.get("max") or given["min"]).spot.mistake(
            f"`max` ({until.max_s:g} s) is less than `min` ({until.min_s:g} s)",
            f"write max: {max(180.0, until.min_s):g}s",
        )
    return until


def _tolerance(node: Node) -> float:
    """Return the tolerance as a fraction, e.g. 0.03 for `3%`. It must be more than 0 and at most 0.5."""
    text, share = _percentage(node, "until: 3%")
    if share is None or not 0 < share <= _HALF:
        raise node.spot.mistake(
            f"expected a tolerance of more than 0% and at most 50%, found `{text[:60]}`",
            f"write until: {_with_percent_sign(text) or '3%'}",
        )
    return float(share)


def _confidence(node: Node) -> float:
    """Return the confidence level as a fraction, e.g. 0.95 for `95%`. It must be at least 0.5 and less than 1.

    Levels too close to 100% are rejected, because the level or its upper quantile would be rounded to 1.
    """
    text, share = _percentage(node, "confidence: 95%")
    if share is None or not _HALF <= share < 1 or (1 + float(share)) / 2 == 1:
        raise node.spot.mistake(
            f"expected a confidence of at least 50% and less than 100%, found `{text[:60]}`",
            f"write confidence: {_with_percent_sign(text) or '95%'}",
        )
    return float(share)


def _percentage(node: Node, example: str) -> tuple[str, Decimal | None]:
    """Return the value as written and as a fraction, which is None if the value is not a percentage."""
    text = expect_scalar(node, f"a percentage, as in `{example}`", f"write {example}").text
    match = _PERCENT.fullmatch(text.strip())
    return text, Decimal(match[1]) / 100 if match else None


def _with_percent_sign(text: str) -> str:
    """Append a percent sign to a number from 1 to 99.999, as in `3%`. For any other text, return an empty string."""
    return f"{text.strip()}%" if re.fullmatch(r"[1-9]\d?(\.\d{1,3})?", text.strip()) else ""


def _trials(given: Given, until: Until | None, default: Measure) -> tuple[int, int | None]:
    """Return the minimum and maximum number of trials. The maximum is None if the number of trials is fixed."""
    if "trials" not in given:
        if until is None:
            return default.trials, None
        return UNTIL_TRIALS if default.until is None else (default.trials, default.most_trials)
    scalar = expect_scalar(given["trials"], "a whole number after `trials`", "write trials: 3")
    text, spot = scalar.text, scalar.spot
    first, dots, last = text.partition("..")
    if not dots:
        return _whole(text, "trials", 1, MOST_TRIALS, spot, "3"), None
    least, most = (_whole(part.strip(), "trials", 1, MOST_TRIALS, spot, "2..6") for part in (first, last))
    if most < least:
        raise spot.mistake(f"`{text[:60]}`: the maximum is less than the minimum", f"write trials: {most}..{least}")
    if until is None:
        raise spot.mistake(
            f"`{text[:60]}`: a range of trials needs `until`, which decides how many trials run",
            f"write trials: {least}, or add until: 3%",
        )
    return least, most


def _duration_of(node: Node, key: str) -> float:
    scalar = expect_scalar(node, _DURATIONS[key], f"write {key}: 10s")
    return duration(scalar.text, scalar.spot, key)


def _steady(node: Node, *, recorded: bool) -> Steady:
    hint = "write steady: snia"
    text = expect_scalar(node, f"{listed(_STEADY)} after `steady`", hint).text
    for criterion in _STEADY:
        if criterion == text:
            return criterion
    if text not in _REMOVED_STEADY:
        guess = did_you_mean(text, _STEADY)
        raise node.spot.mistake(f"expected {listed(_STEADY)} after `steady`, found `{text[:60]}`{guess}", hint)
    if recorded:
        return "poolproof"
    message = f"`steady: {text}` was removed; `steady` can be {listed(_STEADY)}"
    raise node.spot.mistake(message, f"remove `steady`, or {hint}")


def _whole(text: str, key: str, least: int, most: int, spot: Spot, example: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else -1
    if not least <= number <= most:
        message = f"expected a whole number from {least} to {most} after `{key}`, found `{text[:60]}`"
        raise spot.mistake(message, f"write {key}: {example}")
    return number
