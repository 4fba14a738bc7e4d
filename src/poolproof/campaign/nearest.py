"""The word that somebody probably meant."""

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` with the nearest known word; nothing where none is near."""
    close = difflib.get_close_matches(word[:100], list(known), n=1, cutoff=0.6)
    return f"; did you mean `{close[0]}`?" if close else ""


def listed(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *head, last = words
    return f"{', '.join(head)} or {last}" if head else last
