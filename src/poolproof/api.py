"""The Python API for notebooks and other programs: load a run, audit results, lint a job. The commands use it too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from poolproof.errors import UsageError
from poolproof.results.runs import loading

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from poolproof.foreign.audit.context import Context
    from poolproof.foreign.audit.model import Audited
    from poolproof.foreign.audit.sources import Audit
    from poolproof.foreign.lint.job_groups import Targets
    from poolproof.foreign.lint.model import Diagnostic
    from poolproof.foreign.lint.refusals import InstalledFio
    from poolproof.foreign.lint.sources import Source


class Known(TypedDict, total=False):
    """The facts about the measured machine, as values for the options of `poolproof audit`."""

    fs: str | None
    ram: str | None
    recordsize: str | None
    compression: str | None
    devices: Sequence[str]


@dataclass(frozen=True)
class Run(loading.LoadedRun):
    """A run that was loaded: its `campaign`, `trials` and `cells`, and a list of what is `missing`."""

    def to_frame(self) -> DuckDBPyRelation:
        """Return a DuckDB relation with one row per cell and the columns of `poolproof export --csv`.

        To convert the relation, call its method `.df()` for a pandas DataFrame or `.pl()` for a Polars DataFrame. The
        respective library must be installed.

        Raises:
            HostError: the optional dependencies `query` are not installed.
        """
        from poolproof.presentation.export.columns import relation_of
        from poolproof.presentation.export.rows import table_of

        return relation_of(table_of(self))


def load_run(path: str | Path, *, lenient: bool = False) -> Run:
    """Load a run, which need not be finished, from its directory.

    With `lenient`, load whatever is readable, and list the rest in `missing`.

    Raises:
        RunError: the directory contains no run, or the run is damaged or has an unsupported schema version.
        CampaignError: this version of poolproof can't parse the run's campaign (not with `lenient`).
    """
    found = loading.load_run(Path(path), lenient=lenient)
    return Run(**{field.name: getattr(found, field.name) for field in fields(found)})


def audit(text: str, *, source: str = "text", cold: bool = True, **known: Unpack[Known]) -> tuple[Audited, ...]:
    """Find the results of fio and other benchmarks in a text, and judge each of them.

    Set `cold` to False if the benchmark was meant to read cached data.

    Raises:
        UsageError: the value of an option can't be parsed, or `text` is not a str.
    """
    from poolproof.foreign.audit.texts import audit_text

    return audit_text(source, _as_text(text), audit_context(cold=cold, **known))


def audit_files(paths: Sequence[str], context: Context | None = None, *, stdin: Callable[[], bytes] = bytes) -> Audit:
    """Judge the results in files, folders and run directories.

    For the path `-`, `stdin` is called to get the contents. Files that can't be read are listed in the result's
    `unread` field.
    """
    from poolproof.foreign.audit.sources import audit_sources

    return audit_sources(paths, context or audit_context(), stdin)


def audit_context(*, cold: bool = True, **known: Unpack[Known]) -> Context:
    """Return the known facts about the measured machine, in the form that `audit_files` expects.

    Raises:
        UsageError: the value of an option can't be parsed.
    """
    from poolproof.foreign.audit.context import read_context

    if isinstance(known.get("devices"), str):
        raise UsageError("`devices` is a str", 'pass a list, such as devices=["2x nvme"]')
    return read_context(**known, cold=cold)


def lint(
    job: str | Source, *, name: str = "job.fio", targets: Targets | None = None, fio: InstalledFio | None = None
) -> tuple[Diagnostic, ...]:
    """Find mistakes in a job file, a command line or a shell script. The jobs are never run.

    `job`: the contents of the file, or a parsed source.
    `targets`: looks up the files and devices that the jobs would use. By default, only the text is examined.
    `fio`: the installed fio, which then parses the jobs too.

    Raises:
        UsageError: `job` is neither a str nor a source.
    """
    from poolproof.foreign.lint import check
    from poolproof.foreign.lint.sources import Source

    source = job if isinstance(job, Source) else Source(name, _as_text(job))
    return check.lint(source, targets, fio)


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise UsageError(f"expected text, not {type(value).__name__}", "pass a str, such as path.read_text()")
