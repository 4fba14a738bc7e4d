"""Create sources to lint, and shorten the findings for comparison."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target
from poolproof.foreign.audit.context import read_context
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.fix import FixedText, fix_source
from poolproof.foreign.lint.job_groups import Targets
from poolproof.foreign.lint.model import JobEnvironment, WrittenDevice
from poolproof.foreign.lint.sources import Source
from poolproof.foreign.lint.targets import TargetLookup
from poolproof.hosts.local import LocalHost

FILES: Mapping[str, str] = {"shared.inc": "direct=1\nioengine=libaio\n", "jobs.inc": "[b]\nrw=write\nsize=1g\n"}
_SURROUNDINGS = JobEnvironment({"SIZE": "64m"}, {"ncpus": 4, "pagesize": 4096, "mb_memory": 8192}, FILES.get)


@dataclass(frozen=True)
class KnownTarget:
    """A target lookup that returns the same known target for all jobs."""

    on: Target | None = None
    known: Evidence | None = None

    def target(self, _place: object) -> Target | None:
        return self.on

    def described(self) -> Target | None:
        return self.on

    def seen_from(self, _place: object) -> "KnownTarget | None":
        return self

    def written(self, _path: object) -> WrittenDevice | None:
        return None

    def evidence(self, _places: object) -> Evidence | None:
        return self.known


def flags(**given: Any) -> Targets:
    """Return the targets that are described by options such as `--fs zfs-2.2 --ram 64G`."""
    return TargetLookup(read_context(**given), LocalHost())


def source(text: str, name: str = "job.fio") -> Source:
    return Source(name, text, _SURROUNDINGS)


def said(text: str, where: Targets | None = None, name: str = "job.fio") -> list[tuple[int, str, str]]:
    """Return the line, severity and rule of each finding."""
    return [(each.line, each.severity, each.rule) for each in lint(source(text, name), where)]


def rules(text: str, where: Targets | None = None, name: str = "job.fio") -> set[str]:
    return {rule for _, _, rule in said(text, where, name)}


def fixed_text(text: str, where: Targets | None = None, name: str = "job.fio") -> FixedText:
    return fix_source(source(text, name), where)


def job(options: str) -> str:
    """Return a job file with one section for options such as `rw=read bs=4k`.

    There is one option per line, starting on line 2.
    """
    return "[job]\n" + "".join(f"{option}\n" for option in options.split())
