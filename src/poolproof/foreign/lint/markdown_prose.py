"""Prepare Markdown for the search for commands: apostrophes in prose (`Don't do this`) are not shell quotes."""

import re

_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)")
_QUOTES = str.maketrans("'\"", "  ")


def is_markdown(name: str) -> bool:
    return name.lower().endswith((".md", ".markdown", ".mdx"))


def without_quotes_in_prose(text: str) -> str:
    """Return the text without its fences, and without quotes outside of code. The positions of the rest stay the same.

    If the text has no fences, lines that are indented by four spaces or a tab count as code.
    """
    lines = text.split("\n")
    indented = () if any(map(_FENCE.match, lines)) else ("    ", "\t")
    found, is_code = [], False
    for line in lines:
        if _FENCE.match(line):
            is_code = not is_code
            found.append(" " * len(line))
        else:
            found.append(line if is_code or line.startswith(indented) else line.translate(_QUOTES))
    return "\n".join(found)
