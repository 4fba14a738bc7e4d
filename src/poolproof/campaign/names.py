"""Names in a campaign: which ones are valid, how a matrix's cells are named, and suggestions for mistyped names."""

import difflib
import re
from collections.abc import Iterable, Sequence

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NAME_RULE = "letters, digits, `.`, `_` and `-`, starting with a letter or digit"


def is_name(text: str) -> bool:
    """True if the text is a valid name for a layout, device, workload or campaign. It is then safe in file paths."""
    return _NAME.fullmatch(text) is not None


def matrix_name(base: str, varies: Sequence[tuple[str, str]]) -> str:
    """Name one layout or workload of a matrix: `mirror[recordsize=16k]`, or `pool[raidz1]` if the choice has no key."""
    if not varies:
        return base
    return f"{base}[{','.join(f'{key}={value}' if key else value for key, value in varies)}]"


def slug(text: str) -> str:
    """Turn any text into a valid part of a name: `btrfs raid1 a b` becomes `btrfs-raid1-a-b`.

    Empty if nothing valid remains.
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-._")[:60].rstrip("-._")


def slugs(texts: Iterable[str], otherwise: str = "") -> dict[str, str]:
    """Map each text to its own slug. A text without valid characters gets the slug `otherwise`.

    Long texts, or texts that differ only in invalid characters, would get the same slug. The later one then gets
    a number.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for text in dict.fromkeys(texts):
        stem = name = slug(text) or otherwise
        number = 1
        while name in taken:
            number += 1
            name = f"{stem}-{number}"
        taken.add(name)
        names[text] = name
    return names


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` with the most similar known word, or an empty string if none is similar."""
    close = difflib.get_close_matches(word[:100], list(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def listed(words: Iterable[str]) -> str:
    """Join the words as in prose: `a, b or c`."""
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last
