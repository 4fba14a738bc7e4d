"""Names in a campaign: what a name may look like, how a matrix is named, and which name was probably meant."""

import difflib
import re
from collections.abc import Iterable, Sequence

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NAME_RULE = "letters, digits, `.`, `_` and `-`, starting with a letter or digit"


def is_name(text: str) -> bool:
    """True if the text can name a layout, device, workload or campaign. Names become parts of paths."""
    return _NAME.fullmatch(text) is not None


def matrix_name(base: str, varies: Sequence[tuple[str, str]]) -> str:
    """Return a name such as `mirror[recordsize=16k]`; a bare word that varies has no key: `pool[raidz1]`."""
    if not varies:
        return base
    return f"{base}[{','.join(f'{key}={value}' if key else value for key, value in varies)}]"


def slug(text: str) -> str:
    """Make a name from free text: `btrfs raid1 a b` becomes `btrfs-raid1-a-b`. Empty if no character can be used."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-._")[:60].rstrip("-._")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the closest known word, or an empty string if none is close."""
    close = difflib.get_close_matches(word[:100], list(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def listed(words: Iterable[str]) -> str:
    """Join words as `a, b or c`."""
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last
