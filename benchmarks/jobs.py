"""Lint labelled jobs and print how the findings compare with the labels.

    python -m benchmarks.jobs [FOLDER]

FOLDER (default: benchmarks/labelled_jobs) contains two files with one job per line, in three columns separated by `|`:

    good.txt    where the job was found | options of lint that describe the target | the job
    traps.txt   the expected findings   | the same                                 | the job

`\\n` in a job stands for a line break. An alarm is an error or a warning. `destroys-data` does not count as an alarm,
because it warns about every write to a device that lint can't examine. Exits with 1 if a goal is not reached.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arguments import arguments
from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target
from poolproof.foreign.audit.context import read_context, target_of
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.job_groups import JobFiles, Targets
from poolproof.foreign.lint.model import Diagnostic, RunsIn
from poolproof.foreign.lint.sources import Source

_FOLDER = Path(__file__).resolve().parent / "labelled_jobs"
_SAFETY = "destroys-data"
_MOST_ALARMS = 2
_LEAST_FOUND = 0.95


@dataclass(frozen=True)
class _Described:
    """A target about which nothing is known except lint's options."""

    known: Target | None

    def target(self, _place: JobFiles) -> Target | None:
        return self.known

    def described(self) -> Target | None:
        return self.known

    def evidence(self, _places: Sequence[JobFiles]) -> Evidence | None:
        return None

    def seen_from(self, _place: RunsIn) -> "_Described":
        return self

    def written(self, _path: str) -> None:
        return None


@dataclass(frozen=True)
class LintedJob:
    """A labelled job and lint's findings.

    `label`: where the job was found, or the expected findings.
    """

    label: str
    text: str
    found: tuple[Diagnostic, ...]

    @property
    def alarms(self) -> tuple[Diagnostic, ...]:
        """The errors and warnings, except those about data on devices."""
        return tuple(each for each in self.found if each.severity != "note" and each.rule != _SAFETY)

    @property
    def has_wanted(self) -> bool:
        """True if at least one of the expected findings was reported."""
        return any(each.rule in self.label.split(",") for each in self.found)


def linted(path: Path) -> list[LintedJob]:
    """Lint every job in the file."""
    lines = (line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    return [_linted(*line.split("|", 2)) for line in lines]


def _linted(label: str, options: str, job: str) -> LintedJob:
    words = shlex.split(options)
    given = dict(zip((word.removeprefix("--") for word in words[::2]), words[1::2], strict=True))
    context = read_context(
        fs=given.get("fs"),
        ram=given.get("ram"),
        recordsize=given.get("recordsize"),
        compression=given.get("compression"),
        devices=[given["devices"]] if "devices" in given else (),
    )
    targets: Targets = _Described(target_of(context))
    text = job.replace("\\n", "\n") + "\n"
    return LintedJob(label, text, lint(Source("job", text), targets))


def table(good: Sequence[LintedJob], traps: Sequence[LintedJob]) -> str:
    """Return the confusion table in Markdown."""
    alarmed, found = sum(bool(job.alarms) for job in good), sum(job.has_wanted for job in traps)
    return "\n".join(
        [
            "| jobs | alarm (recommended) or expected finding (known mistake) | none | all |",
            "|---|---:|---:|---:|",
            f"| recommended | {alarmed} | {len(good) - alarmed} | {len(good)} |",
            f"| with a known mistake | {found} | {len(traps) - found} | {len(traps)} |",
        ]
    )


def main(given: Sequence[str] = ()) -> int:
    """Print the table and every wrong finding. Return 0 if the goals are reached, otherwise 1."""
    folder = Path(given[0]) if given else _FOLDER
    good, traps = linted(folder / "good.txt"), linted(folder / "traps.txt")
    print(table(good, traps))
    for job in good:
        for alarm in job.alarms:
            print(f"alarm: {job.label}: {alarm.rule}: {alarm.message}")
    for job in traps:
        if not job.has_wanted:
            print(f"missed: {job.label}: {job.text.strip()!r}: {sorted({each.rule for each in job.found})}")
    alarmed, found = sum(bool(job.alarms) for job in good), sum(job.has_wanted for job in traps)
    return 0 if alarmed <= _MOST_ALARMS and found >= _LEAST_FOUND * len(traps) else 1


if __name__ == "__main__":
    raise SystemExit(main(arguments(__doc__)))
