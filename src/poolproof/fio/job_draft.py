"""Jobs while they are read: global options, a section's own, where each stands, and what was odd about them."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from poolproof.fio.aliases import ALIASES, canonical
from poolproof.fio.job import Job
from poolproof.fio.option_names import ENGINE_OPTIONS, JOB_OPTIONS, OTHER_RELEASES

ALL_NAMES = JOB_OPTIONS | ENGINE_OPTIONS | OTHER_RELEASES | frozenset(ALIASES)


@dataclass(frozen=True)
class Problem:
    """Something that fio would refuse, and where; `line` counts from 1."""

    line: int
    message: str


@dataclass
class JobDraft:
    """One section. A repeated option takes the place of its last mention."""

    name: str
    line: int
    options: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def put(self, name: str, value: str, line: int) -> None:
        """Set an option by its first name."""
        self.options.pop(name, None)
        self.options[name] = value
        self.lines[name] = line

    def job(self, shared: "JobDraft") -> Job:
        """The job with the global options that stood above it."""
        options = {name: value for name, value in shared.options.items() if name not in self.options}
        return Job(self.name, {**options, **self.options}, self.line, {**shared.lines, **self.lines})


def resolve(name: str, among: Iterable[str] = ALL_NAMES) -> str | None:
    """An option's first name from its name, alias or unambiguous prefix; None when it is none of fio's."""
    known = among if isinstance(among, frozenset) else frozenset(among)
    if name in known:
        return canonical(name)
    fitting = {canonical(candidate) for candidate in known if candidate.startswith(name)} if name else set()
    return fitting.pop() if len(fitting) == 1 else None


def unknown(name: str, line: int) -> Problem:
    """The problem of an option that fio does not know."""
    near = difflib.get_close_matches(name, sorted(ALL_NAMES), n=1, cutoff=0.6)
    return Problem(line, f"fio has no option {name!r}" + (f"; did you mean `{near[0]}`?" if near else ""))
