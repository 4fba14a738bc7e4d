r"""The syntax of option values. It is checked for every layer after its stage has been parsed.

Values become parts of commands that run as root: `mkfs.xfs -l size=64m`, `mount -o commit=5`, or a line of autotier's
configuration. A comma, a space or a line break in a value could therefore add another option, and a path could refer to
a file or device outside the layout. By default, a value is a word without these characters. `Layer.values` lists a
layer's exceptions.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.expression import Argument, Option, Word
from poolproof.errors import CampaignError

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")
_LONGEST = 256
_NAMES: Mapping[str, str] = {",": "a comma", " ": "a space", "/": "`/`", "=": "`=`", "\n": "a line break", "-": "`-`"}


@dataclass(frozen=True)
class Values:
    """The values that an option accepts: a regular expression that must match the entire value, and a description."""

    pattern: re.Pattern[str]
    expected: str


def values(pattern: str, expected: str) -> Values:
    """Return the `Values` for a regular expression. It must match the entire value, and ignores case."""
    return Values(re.compile(pattern, re.IGNORECASE | re.ASCII), expected)


WORD = values(r"[a-z0-9+][a-z0-9+.:_%-]*", "a word or a number")
SIZE = values(r"\d+(\.\d+)?([bskmgtpe]|[kmgtpe]i?b)?", "a number, or a size such as 64m")
THREADS = values(r"-?\d{1,3}", "a number of at most 999, because more threads could exhaust those of the machine")
NUMBER = values(r"-?\d+(\.\d+)?", "a number")
FEATURES = values(r"[\^!]?[a-z0-9][\w-]*(,[\^!]?[a-z0-9][\w-]*)*", "names of features, such as ^has_journal,bigalloc")
_HOW_TO_FAIL = "because panic would crash the whole machine at the first I/O error"
EXT4_ERRORS = values("continue|remount-ro", f"continue or remount-ro, {_HOW_TO_FAIL}")
BTRFS_ERRORS = values("bug", f"bug, {_HOW_TO_FAIL}")
POOL_ERRORS = values("wait|continue", f"wait or continue, {_HOW_TO_FAIL}")
NAME_PLACES = frozenset(
    ("logdev", "rtdev", "journal_dev", "branches", "mountpoint", "altroot", "cachefile", "keylocation")
)
"""Options of layers that no layout can set, because their values name files, directories or devices outside it."""

SETTINGS = values(r"[a-z]\w*=\w+( [a-z]\w*=\w+)*", "settings such as high_watermark=90")


def check_values(
    arguments: Sequence[Argument],
    known: Mapping[str, Values],
    mistake: Callable[[Argument, str], CampaignError],
) -> None:
    """Raise the error that `mistake` returns if a word or a value contains forbidden characters.

    `known`: the layer's exceptions, keyed by option. Whether an option exists at all is checked by the layer.
    """
    for argument in arguments:
        if isinstance(argument, Word) and _UNPRINTABLE.search(argument.text):
            raise mistake(argument, "a word cannot contain a line break or a control character")
        if isinstance(argument, Option):
            message = refusal(argument, known.get(argument.key) or known.get(_kind(argument.key), WORD))
            if message is not None:
                raise mistake(argument, message)


def _kind(key: str) -> str:
    """Return the key under which a layer lists the option's values.

    All pool features share the key `feature@`, and all user properties of ZFS share the key `:`.
    """
    return "feature@" if key.startswith("feature@") else ":" if ":" in key else key


def refusal(option: Option, permitted: Values) -> str | None:
    """Return an error message if the value of the option is not permitted, otherwise None."""
    value = option.value
    if permitted.pattern.fullmatch(value) and len(value) <= _LONGEST:
        return None
    wrong = next((text for mark, text in _NAMES.items() if mark in value and not _fits(mark, permitted)), "")
    if wrong == _NAMES[","]:
        return "a value cannot contain a comma; write separate options"
    reason = f" cannot contain {wrong}" if wrong else f" cannot be {value[:40]!r}" if value else " has no value"
    return f"`{option.key}`{reason}; expected {permitted.expected}"


def _fits(mark: str, permitted: Values) -> bool:
    """True if a permitted value may contain this character."""
    return any(permitted.pattern.fullmatch(text) for text in (f"a{mark}a", f"{mark}1", f"a=1{mark}a=1"))
