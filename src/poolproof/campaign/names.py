"""Validate names in a campaign, name the cells of a matrix, and suggest corrections for mistyped names."""

import difflib
import re
from collections.abc import Iterable, Sequence

_MOST_LISTED = 8
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NAME_RULE = "letters, digits, `.`, `_` and `-`, starting with a letter or digit"


def is_name(text: str) -> bool:
    """True if the string is a valid layout, device, workload or campaign name, which is safe in file paths."""
    return _NAME.fullmatch(text) is not None


def matrix_name(base: str, varies: Sequence[tuple[str, str]]) -> str:
    """Return a layout's or workload's name in a matrix: `mirror[recordsize=16k]`, or `pool[raidz1]` without a key."""
    if not varies:
        return base
    return f"{base}[{','.join(f'{key}={value}' if key else value for key, value in varies)}]"


def slug(text: str) -> str:
    """Convert any string to a valid part of a name: `btrfs raid1 a b` becomes `btrfs-raid1-a-b`.

    Return an empty string if no valid character remains.
    """
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-._")[:60].rstrip("-._")


def slugs(texts: Iterable[str], otherwise: str = "") -> dict[str, str]:
    """Return a unique slug for each string, keyed by string. If no valid character remains, the slug is `otherwise`.

    Strings that are long or differ only in invalid characters may have the same slug. In this case, a number is
    appended to the later one.
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
    """Return `; did you mean …?` with the most similar known word, or an empty string if none is similar enough."""
    close = difflib.get_close_matches(word[:100], list(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def choices(what: str, names: Sequence[str]) -> str:
    """Return a hint that lists the names: `the layouts are a, b and c`, or `the only layout is a`.

    Names after the first eight are not listed.
    """
    if len(names) < 2:
        return f"the only {what} is {names[0]}" if names else f"the campaign has no {what}s"
    if len(names) > _MOST_LISTED:
        return f"the {what}s are {', '.join(names[:_MOST_LISTED])} …"
    return f"the {what}s are {', '.join(names[:-1])} and {names[-1]}"


def listed(words: Iterable[str]) -> str:
    """Join the words with commas and a final `or`: `a, b or c`."""
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last
