"""Jobs while they are read: global options, a section's own, where each stands, and what was odd about them."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from poolproof.load.fio.aliases import ALIASES, canonical
from poolproof.load.fio.blocks import kb_base_of
from poolproof.load.fio.job import Job
from poolproof.load.fio.option_names import ENGINE_OPTIONS, JOB_OPTIONS, OTHER_RELEASES

_DEFAULT_BASE = 1024
_LONGEST_NAME = 60
_FAR = 0.5
_ALIKE = 0.75  # two letters of four changed places: `nmae`
MOST_PROBLEMS = 100
"""Problems that are told of one source; more tell nothing new."""

ALL_NAMES = JOB_OPTIONS | ENGINE_OPTIONS | OTHER_RELEASES | frozenset(ALIASES)


@dataclass(frozen=True)
class Problem:
    """Something that fio would refuse, and where; `line` counts from 1.

    `is_certain` False: an option of a name like no other, which another release or an engine of its own may know.
    `option`: the name of an option that is not known here. `fix`: what to type, where that is known.
    """

    line: int
    message: str
    is_certain: bool = True
    option: str | None = None
    fix: str = ""


@dataclass
class JobDraft:
    """One section. A repeated option takes the place of its last mention. `early`: options that fio had read when it
    came upon a kb_base.
    """

    name: str
    line: int
    options: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    early: set[str] = field(default_factory=set)

    def put(self, name: str, value: str, line: int) -> None:
        """Set an option by its first name."""
        self.options.pop(name, None)
        self.options[name] = value
        self.lines[name] = line
        self.early.discard(name)

    def put_in_order(self, name: str, value: str, line: int) -> None:
        """Set an option where fio reads one after the other, so that a kb_base acts on those after it only."""
        if name == "kb_base":
            self.early |= self.options.keys()
        self.put(name, value, line)

    def copied(self, line: int) -> "JobDraft":
        """The same again, to be continued further down."""
        return JobDraft(self.name, line, dict(self.options), dict(self.lines), set(self.early))

    def job(self, shared: "JobDraft") -> Job:
        """The job with the global options that stood above it."""
        options = {name: value for name, value in shared.options.items() if name not in self.options}
        bases = dict.fromkeys(shared.early & options.keys(), _DEFAULT_BASE)
        before = kb_base_of(shared.options)
        if "kb_base" in self.options:
            bases = {name: bases.get(name, before) for name in options} | dict.fromkeys(self.early, before)
        whole = {**options, **self.options}
        early = {name: base for name, base in bases.items() if base != kb_base_of(whole)}
        return Job(self.name, whole, self.line, {**shared.lines, **self.lines}, early)


def resolve(name: str, among: Iterable[str] = ALL_NAMES) -> str | None:
    """An option's first name from its name, alias or unambiguous prefix; None when it is none of fio's.

    Options of engines and of other releases make no prefix ambiguous: fio's list does not hold them.
    """
    known = among if isinstance(among, frozenset) else frozenset(among)
    if name in known:
        return canonical(name)
    fitting = {candidate for candidate in known if candidate.startswith(name)} if name else set()
    for names in (fitting, fitting - ENGINE_OPTIONS - OTHER_RELEASES):
        first = {canonical(candidate) for candidate in names}
        if len(first) == 1:
            return first.pop()
    return None


def unknown(name: str, line: int, among: frozenset[str] = ALL_NAMES) -> Problem:
    """The problem of an option that is not `among` those known."""
    near = _nearest(name[:_LONGEST_NAME], among)
    if near is None:
        like = difflib.get_close_matches(name[:_LONGEST_NAME], sorted(among), n=1, cutoff=_FAR)
        nearest = f"; the nearest is `{like[0]}`" if like else ""
        message = f"{name[:_LONGEST_NAME]!r} is no option of fio that is known here{nearest}"
        return Problem(line, message, is_certain=False, option=name)
    return Problem(line, f"fio has no option {name!r}; did you mean `{near}`?", option=name)


@lru_cache(maxsize=1024)
def _nearest(name: str, among: frozenset[str]) -> str | None:
    near = difflib.get_close_matches(name, sorted(among), n=1, cutoff=_ALIKE)
    return near[0] if near else None
