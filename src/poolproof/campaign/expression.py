"""A layout expression as a tree: `zfs mirror hdd1 hdd2 log (nvme1 | luks) | zvol 100G | ext4`.

The tree has stages, words, options and groups. Only the layers know which words they accept (`layers/`). Each argument
remembers its position in the text, for error messages; equality ignores it.
"""

from dataclasses import dataclass, field

from poolproof.errors import CampaignError


@dataclass(frozen=True)
class TextSpan:
    """The position of a token in the text: columns from 0, `end` exclusive."""

    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Word:
    """A bare word: a layer, a device, a vdev kind, a size, a path."""

    text: str
    span: TextSpan = field(default=TextSpan(), compare=False)


@dataclass(frozen=True)
class Option:
    """`key=value`, in the technology's own words."""

    key: str
    value: str
    span: TextSpan = field(default=TextSpan(), compare=False)


@dataclass(frozen=True)
class Group:
    """A layout in parentheses that serves as a device."""

    expression: "Expression"
    span: TextSpan = field(default=TextSpan(), compare=False)


Argument = Word | Option | Group


@dataclass(frozen=True)
class Stage:
    """The part between two `|`: at least one argument, the first a word or a group."""

    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Expression:
    """Stages from the bottom to the top.

    `text` is the source with its braces; all spans in the expression and in its groups refer to it. `origin` says where
    the source is written ("campaign.yaml:12"). Both are for error messages.
    """

    stages: tuple[Stage, ...]
    text: str = field(default="", compare=False)
    origin: str = field(default="", compare=False)


def pointed(text: str, span: TextSpan, message: str) -> str:
    """Return the message, the line of `text` that contains the span, and carets under the span."""
    start = min(span.start, len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    line = text[line_start : len(text) if line_end < 0 else line_end].replace("\t", " ")
    width = max(1, min(span.end, line_start + len(line)) - start)
    return f"{message}\n  {line}\n  {' ' * (start - line_start)}{'^' * width}"


def mistake_in(expression: Expression, span: TextSpan, message: str, hint: str = "") -> CampaignError:
    """Return the error that names the file and line of an expression, if known, and points at the span."""
    prefix = f"{expression.origin}: " if expression.origin else ""
    return CampaignError(prefix + pointed(expression.text, span, message), hint or _how_to_check(expression.origin))


def _how_to_check(origin: str) -> str:
    file, _, line = origin.rpartition(":")
    if file and line.isdigit():
        return f"fix it, then check the campaign without running it: poolproof check {file}"
    return "to see what a run would do, without doing it: poolproof run … --dry-run"
