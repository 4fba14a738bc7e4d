"""Claims of an experiment and their results, in words."""

from rich.console import Console, Group
from rich.padding import Padding
from rich.text import Text

from poolproof.results.runs.claims import ClaimResult
from poolproof.statistics.intervals import Interval

CLAIM_MARKS = {"held": "✓", "failed": "✗", "undecided": "?"}
_STYLES = {"held": "green", "failed": "red", "undecided": "yellow"}


def print_claims(console: Console, claims: tuple[ClaimResult, ...]) -> None:
    """Print each claim with its source, its result and the measured value; nothing without claims."""
    if claims:
        console.print(Text("\nclaims", style="bold"))
    for held in claims:
        heading = Text(f"{CLAIM_MARKS[held.result]} {held.result}: ", style=_STYLES[held.result]).append(
            held.claim.claim, style="default"
        )
        said = f"measured {measured_text(held)}" if held.measured else ""
        said = "; ".join(part for part in (said, held.why) if part)
        lines = [f"{held.claim.text}; {said}", f"source: {held.claim.source}"]
        console.print(Group(heading, *(Padding(Text(line, style="bright_black"), (0, 0, 0, 2)) for line in lines)))


def measured_text(held: ClaimResult) -> str:
    """Return the measured side, such as `48% (47% … 49%)`, or why there is none."""
    if held.measured is None:
        return held.why
    return _interval(held.measured, as_share="share" in held.claim.text or "utilisation" in held.claim.text)


def _interval(interval: Interval, *, as_share: bool) -> str:
    def text(value: float) -> str:
        return f"{value:.1%}" if as_share else f"{value:.4g}"

    if interval.low is None or interval.high is None or text(interval.low) == text(interval.high):
        return text(interval.mean)
    return f"{text(interval.mean)} ({text(interval.low)} … {text(interval.high)})"
