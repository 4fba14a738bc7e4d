"""A JSON document of fio that was cut off: what stands whole before the cut, with its brackets closed.

Only whole lines count. A number at the cut may have lost digits, so a last line that does not end as fio ends its lines
is left out, and so are lines before it until the rest is a document.
"""

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_KEPT_ENDING = (",", "{", "[", "}", "]")
_LONGEST = 4_000_000
_MOST_TRIES = 6
_CLOSING = {"{": "}", "[": "]"}
_FENCE = re.compile(r"^\s*(?:```|~~~|</?(?:pre|code)\b)", re.MULTILINE)


def mended(text: str, start: int) -> tuple[object, int]:
    """(document or None, where it ends) of a cut-off document that starts at `start`."""
    fence = _FENCE.search(text, start)
    end = min(fence.start() if fence else len(text), start + _LONGEST)
    lines = [line for line in text[start:end].splitlines() if line.strip()]
    own = lines[: _json_lines(lines)]
    for dropped in range(min(_MOST_TRIES, len(own))):
        kept = own[: len(own) - dropped]
        if not kept[-1].rstrip().endswith(_KEPT_ENDING):
            continue
        document = _closed("\n".join(kept))
        if document is not None:
            return document, end
    return None, start


def _json_lines(lines: list[str]) -> int:
    """How many lines from the first on look like fio's JSON."""
    for number, line in enumerate(lines):
        if line.strip()[0] not in '{}[]"':
            return number
    return len(lines)


def _closed(text: str) -> object:
    """The text with its open brackets closed, decoded; None when that is no JSON."""
    open_brackets: list[str] = []
    for token in _TOKEN.findall(text):
        if token in _CLOSING:
            open_brackets.append(token)
        elif token in ("}", "]") and open_brackets:
            open_brackets.pop()
    closing = "".join(_CLOSING[bracket] for bracket in reversed(open_brackets))
    try:
        document: object = json.loads(text.rstrip().rstrip(",") + closing)
    except (ValueError, RecursionError):
        return None
    return document
