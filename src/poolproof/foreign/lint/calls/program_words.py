"""Find the word of a command that runs fio: its name, its path, or a variable such as `$FIO`."""

import re
from collections.abc import Sequence

from poolproof.foreign.lint.calls.container_entrypoint import place_of_image
from poolproof.foreign.lint.shell.shell_words import ShellWord
from poolproof.load.fio.commandline import place_of_fio

_FIO_VARIABLE = re.compile(  # $FIO, but not $FIO_OPTIONS or $fio_config
    r"\$[{(]?(?!\w*(?:opt(?:ion)?s?|arg(?:ument)?s?|param(?:eter)?s?|flags?|defaults?|extra|custom"
    r"|conf(?:ig)?s?|cfg|jobs?|_?files?|out(?:put)?|logs?)[})]?$)\w*fio\w*[})]?"
    r"|\$\((?:which|command -v) fio\)",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"\$(?:\w+|\{\w+(?:\[[@*]\])?\}|[@*])")
BEFORE_FIO = frozenset(
    {"sudo", "time", "exec", "nohup", "env", "do", "then", "else", "if", "elif", "while", "until", "!", "{"}
)


def place_of_program(words: Sequence[ShellWord]) -> int | None:
    """Return the index of the word that runs fio, which may be a variable (`$FIO`), or None.

    After `fio`, such a variable contains options (`fio $FIO_OPTIONS`), unless it follows `--`.
    """
    names = [word.text for word in words]
    first = place_of_fio(names)

    def is_program(at: int) -> bool:
        may_be = first is None or at < first or names[at - 1] == "--"
        return may_be and _FIO_VARIABLE.fullmatch(names[at]) is not None

    found = place_of_fio(["fio" if is_program(at) else name for at, name in enumerate(names)])
    found = place_of_image(names) if found is None else found
    return _before_variables(names) if found is None else found


def _before_variables(names: Sequence[str]) -> int | None:
    """Return the index of `fio` if only a variable follows it (`sudo fio $OPTIONS`, `… -- fio $OPTIONS`), or None."""
    first = next((at for at, name in enumerate(names) if name not in BEFORE_FIO and "=" not in name), len(names))
    for at in [first, *(at + 1 for at, name in enumerate(names) if name == "--" or name.isdecimal())]:
        if names[at : at + 1] == ["fio"] and any(map(_VARIABLE.fullmatch, names[at + 1 : at + 2])):
            return at
    return None
