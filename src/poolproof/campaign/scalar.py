"""One text as a YAML scalar that reads back to it, plain where that is safe."""

import re

_SAFE = re.compile(r"[A-Za-z0-9_/.][A-Za-z0-9_/.+%=-]*")
_WORDS = re.compile(r"(?i)true|false|null|~")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\"}


def scalar(text: str) -> str:
    """The text without quotes where YAML could read nothing else in it, else in double quotes."""
    if _SAFE.fullmatch(text) and not _WORDS.fullmatch(text):
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if 0x20 <= code < 0x7F:
        return character
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
