"""How a mistake in a line of text is shown: what is wrong, the line, a caret under the word."""

from poolproof.campaign.expression import Expression, TextSpan
from poolproof.errors import CampaignError


def pointed(text: str, place: TextSpan, message: str) -> str:
    """The message, the line of `text` that holds `place`, and carets under the place."""
    start = min(place.start, len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : len(text) if line_end < 0 else line_end].replace("\t", " ")
    width = max(1, min(place.end, line_start + len(line)) - start)
    return f"{message}\n  {line}\n  {' ' * (start - line_start)}{'^' * width}"


def mistake_in(expression: Expression, place: TextSpan, message: str, hint: str = "") -> CampaignError:
    """The error that names the file and line of a layout, where known, and points at `place` in it."""
    prefix = f"{expression.origin}: " if expression.origin else ""
    return CampaignError(prefix + pointed(expression.text, place, message), hint or _how_to_check(expression.origin))


def _how_to_check(origin: str) -> str:
    file, _, line = origin.rpartition(":")
    if file and line.isdigit():
        return f"mend it, then check the campaign without running it: poolproof check {file}"
    return "see what a run would do, without doing it: poolproof run … --dry-run"
