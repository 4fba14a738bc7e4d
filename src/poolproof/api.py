"""The Python API for notebooks and other programs: load a run, audit results, lint a job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from poolproof.results.runs import loading
from poolproof.results.runs.loading import LoadedRun

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from poolproof.campaign.model import Campaign
    from poolproof.foreign.audit.model import Audited
    from poolproof.foreign.lint.model import Diagnostic
    from poolproof.results.runs.model import Trial
    from poolproof.results.runs.summary import Cell


@dataclass(frozen=True)
class Run:
    """A run directory that was read. `loaded` is what the commands work on."""

    loaded: LoadedRun

    @property
    def path(self) -> Path:
        """Return the run directory."""
        return self.loaded.path

    @property
    def campaign(self) -> Campaign:
        """Return the campaign as it was run."""
        return self.loaded.campaign

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Return the finished trials in the order in which they ended."""
        return self.loaded.trials

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the cells with at least one trial, in the campaign's order."""
        return self.loaded.cells

    @property
    def missing(self) -> tuple[str, ...]:
        """Return what could not be read, as sentences; empty unless the run was loaded with `lenient`."""
        return self.loaded.missing

    def to_frame(self) -> DuckDBPyRelation:
        """Return one row per cell with the columns of `poolproof export --csv`, as a DuckDB relation.

        `.df()` converts it to a pandas DataFrame, `.pl()` to a Polars one, if that library is installed.

        Raises:
            HostError: the extra `query` is not installed.
        """
        from poolproof.presentation.export.parquet import relation_of
        from poolproof.presentation.export.rows import table_of

        return relation_of(table_of(self.loaded))


def load_run(path: str | Path, *, lenient: bool = False) -> Run:
    """Load a run directory, finished or not. With `lenient`, load what can be read and list the rest in `missing`.

    Raises:
        RunError: the directory has no run, a damaged one, or one of another schema.
    """
    return Run(loading.load_run(Path(path), lenient=lenient))


def audit(
    text: str,
    *,
    source: str = "text",
    fs: str | None = None,
    ram: str | None = None,
    recordsize: str | None = None,
    compression: str | None = None,
    cold: bool = True,
) -> tuple[Audited, ...]:
    """Find the fio results in a text and judge each. The options are those of `poolproof audit`.

    Raises:
        UsageError: the value of an option can't be read.
    """
    from poolproof.foreign.audit.context import read_context
    from poolproof.foreign.audit.texts import AuditContext, audit_text

    context = read_context(fs=fs, ram=ram, recordsize=recordsize, compression=compression)
    return audit_text(source, text, AuditContext(context, cold=cold))


def lint(job: str, *, name: str = "job.fio") -> tuple[Diagnostic, ...]:
    """Find mistakes in the text of a job file, a command line or a shell script, without looking at any machine."""
    from poolproof.foreign.lint.check import lint as lint_source
    from poolproof.foreign.lint.source import Source

    return lint_source(Source(name, job))
