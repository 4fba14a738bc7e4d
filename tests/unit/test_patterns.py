"""No regular expression takes time that grows faster than the square of the text's length.

Texts come from strangers, and poolproof has no time limit for a search. This test repeats short pieces of text and adds
text that does not match, because a search then tries every way to divide the pieces.
"""

import importlib
import pkgutil
import re
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any

import poolproof

_LENGTH = 800
_LIMIT_S = 3.0  # of processor time; the slowest pattern takes a hundredth of that
_ENDS = ("", "!", "\n!")
_PIECES = (
    " ",
    "\t",
    "\n",
    "a",
    "0",
    "-",
    ".",
    ",",
    ":",
    "/",
    "=",
    "a=",
    "=a",
    "a ",
    "1 ",
    "1.",
    "a,",
    "0 0",
    "k ",
    "| ",
)
_LITERAL = re.compile(r"[A-Za-z]{2,}|[^\w\\\[\](){}?*+|^$.\s]")
_NOT_IMPORTED = "poolproof.devices.emulated.plugin"  # only nbdkit can import it


def test_no_pattern_takes_longer_than_quadratic_time() -> None:
    slow = [f"{name}: {found.pattern}" for found, name in _patterns().items() if _is_slow(found)]
    assert slow == []


def _is_slow(pattern: "re.Pattern[str]") -> bool:
    pieces = dict.fromkeys((*_PIECES, *_LITERAL.findall(pattern.pattern)))
    texts = (piece * (_LENGTH // len(piece)) + end for piece in pieces for end in _ENDS)
    before = signal.signal(signal.SIGVTALRM, _stop)
    try:
        for text in texts:
            signal.setitimer(signal.ITIMER_VIRTUAL, _LIMIT_S)
            for _ in pattern.finditer(text):
                pass
    except TimeoutError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return False


def _stop(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TimeoutError


def _patterns() -> dict["re.Pattern[str]", str]:
    """Return the patterns at the top level of all modules, each with one of its names."""
    found: dict[re.Pattern[str], str] = {}
    for module in pkgutil.walk_packages(poolproof.__path__, f"{poolproof.__name__}."):
        if module.name != _NOT_IMPORTED:
            for name, value in vars(importlib.import_module(module.name)).items():
                found |= dict.fromkeys(_in(value), f"{module.name}.{name}")
    return found


def _in(value: Any) -> Iterator["re.Pattern[str]"]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _in(item)
