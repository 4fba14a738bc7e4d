"""The `measure` part of a campaign file."""

from poolproof.campaign.document import Node, Spot, expect_flag, expect_scalar, expect_table, unknown_key
from poolproof.campaign.later import LATER
from poolproof.campaign.model import Measure
from poolproof.units import parse_duration

KEYS = ("time", "trials", "cold", "seed")
LONGEST_S = 7 * 86400
MOST_TRIALS = 10_000
_EXAMPLE = "write measure: {time: 10s, trials: 3}"


def read_measure(node: Node, default: Measure | None = None) -> Measure:
    """How each cell is measured; what is not said is as in `default`.

    Raises:
        CampaignError: an unknown key, a value of a wrong type or out of its range.
    """
    table = expect_table(node, "`measure`", _EXAMPLE)
    for key, _ in table.entries:
        if key.text not in KEYS:
            raise unknown_key(key, KEYS, "`measure`", LATER)
    given = {key.text: value for key, value in table.entries}
    default = default or Measure()
    return Measure(
        time_s=_time(given["time"]) if "time" in given else default.time_s,
        trials=_count(given["trials"], "trials", 1, MOST_TRIALS) if "trials" in given else default.trials,
        cold=expect_flag(given["cold"], "cold") if "cold" in given else default.cold,
        seed=_count(given["seed"], "seed", 0, 2**63 - 1) if "seed" in given else default.seed,
    )


def duration(text: str, spot: Spot) -> float:
    """Seconds of one trial: more than none, at most a week."""
    try:
        seconds = parse_duration(text)
    except (ValueError, OverflowError):
        seconds = 0.0
    if not 0 < seconds <= LONGEST_S:
        raise spot.mistake(f"expected the time of a trial, at most 7d, found `{text[:60]}`", "write time: 10s")
    return seconds


def _time(node: Node) -> float:
    scalar = expect_scalar(node, "the time of a trial", "write time: 10s")
    return duration(scalar.text, scalar.spot)


def _count(node: Node, key: str, least: int, most: int) -> int:
    text = expect_scalar(node, f"a whole number after `{key}`", f"write {key}: {least + 2}").text
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
    if not least <= number <= most:
        raise node.spot.mistake(
            f"expected a whole number from {least} to {most} after `{key}`, found `{text[:60]}`",
            f"write {key}: {least + 2}",
        )
    return number
