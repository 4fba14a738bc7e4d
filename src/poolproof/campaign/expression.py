"""Layout expressions: `zfs mirror hdd1 hdd2 log (nvme1 | luks) | zvol 100G | ext4` as a tree, and back.

The grammar knows stages, words, options and groups; which words a technology understands is that technology's own
business (`layers/`). Places are kept for error messages and take no part in equality.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TextSpan:
    """Where a token stands in the text: columns from 0, `end` exclusive."""

    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Word:
    """A bare word: a layer, a device, a vdev kind, a size, a path."""

    text: str
    place: TextSpan = field(default=TextSpan(), compare=False)


@dataclass(frozen=True)
class Option:
    """`key=value`, in the technology's own words."""

    key: str
    value: str
    place: TextSpan = field(default=TextSpan(), compare=False)


@dataclass(frozen=True)
class Group:
    """A layout in parentheses that serves as a device."""

    expression: "Expression"
    place: TextSpan = field(default=TextSpan(), compare=False)


Argument = Word | Option | Group


@dataclass(frozen=True)
class Stage:
    """What stands between two `|`: at least one argument, the first a word or a group."""

    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Expression:
    """Stages from the bottom to the top.

    `text` is the source, braces and all, that every place in the expression and in its groups refers to; `origin` is
    where the source stands ("campaign.yaml:12"). Both are kept for error messages.
    """

    stages: tuple[Stage, ...]
    text: str = field(default="", compare=False)
    origin: str = field(default="", compare=False)
