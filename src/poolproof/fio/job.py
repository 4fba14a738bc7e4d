"""A fio job file as values, and what its options mean. Stub of the contract; see JobFile."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """One job section with the global options already folded in. Option names are fio's canonical ones."""

    name: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class JobFile:
    """The jobs of one fio run, in order."""

    jobs: tuple[Job, ...]
