"""`filename=` of fio: several names with `:` between them, `\\:` for a colon of the name itself."""

import re

_UNESCAPED_COLON = re.compile(r"(?<!\\):")


def split_filenames(text: str) -> tuple[str, ...]:
    """The names, in order, their escapes removed."""
    return tuple(name.strip().replace("\\:", ":") for name in _UNESCAPED_COLON.split(text) if name.strip())


def join_filenames(names: tuple[str, ...]) -> str:
    """The names as one value of `filename=`."""
    return ":".join(name.replace(":", "\\:") for name in names)
