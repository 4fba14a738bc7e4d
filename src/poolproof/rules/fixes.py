"""Mends that are the same for every job."""

from collections.abc import Callable

from poolproof.load.model import LoadPart
from poolproof.rules.model import Case, Changes


def always(**options: str | None) -> Callable[[Case, LoadPart], Changes]:
    """These options to set, and those that are None to leave out."""
    return lambda _case, _job: options
