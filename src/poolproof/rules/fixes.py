"""Fixes that are the same for every job."""

from collections.abc import Callable

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case, Changes


def always(**options: str | None) -> Callable[[Case, LoadPart], Changes]:
    """Return a fix that sets these options; an option with the value None is removed."""
    return lambda _case, _job: options
