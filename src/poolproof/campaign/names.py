"""The names of things in a campaign: what they may look like, and how a matrix names what it makes."""

import re
from collections.abc import Sequence

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NAME_RULE = "letters, digits, `.`, `_` and `-`, a letter or digit first"


def is_name(text: str) -> bool:
    """Whether the text can name a layout, a device, a workload or a campaign: it becomes part of paths."""
    return _NAME.fullmatch(text) is not None


def matrix_name(base: str, varies: Sequence[tuple[str, str]]) -> str:
    """`mirror[recordsize=16k]`; a bare word that varies stands alone: `pool[raidz1]`."""
    if not varies:
        return base
    return f"{base}[{','.join(f'{key}={value}' if key else value for key, value in varies)}]"


def slug(text: str) -> str:
    """A name made from free text: `btrfs raid1 a b` becomes `btrfs-raid1-a-b`; empty where nothing is left."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-._")[:60].rstrip("-._")
