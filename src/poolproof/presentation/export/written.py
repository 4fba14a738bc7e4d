"""Write an export to disk: the formats by name, and the paths of their files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from poolproof.errors import UsageError
from poolproof.presentation.export.columns import csv_text, write_parquet
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.rows import ExportTable


@dataclass(frozen=True)
class Format:
    """A format. `ending`: of its file name. `text`: returns the complete file; None if the format is not one text."""

    ending: str
    text: Callable[[ExportTable], str] | None = None


FORMATS: Mapping[str, Format] = {
    "csv": Format(".csv", csv_text),
    "parquet": Format(".parquet"),
    "dat": Format("-dat"),
    "markdown": Format(".md", markdown_text),
    "openmetrics": Format(".om", openmetrics_text),
    "influx": Format(".lp", influx_text),
}


def default_place(name: str, table: ExportTable) -> Path:
    """Return the path for an export in the current directory: the run's name with the format's ending.

    Raises:
        UsageError: the path already exists.
    """
    path = Path(f"{table.run}{FORMATS[name].ending}")
    if path.exists():
        raise UsageError(f"{path} already exists", "name a path with --out; --out overwrites an existing file")
    return path


def write_export(name: str, table: ExportTable, out: Path) -> tuple[Path, ...]:
    """Write a run in the format of that name and return the paths of the files written.

    Raises:
        UsageError: a file cannot be written.
    """
    text = FORMATS[name].text
    texts = {out: text(table)} if text is not None else {}
    if name == "dat":
        texts = {out / place: content for place, content in dat_files(table).items()}
    try:
        for path, content in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="")
        if name == "parquet":
            out.parent.mkdir(parents=True, exist_ok=True)
            write_parquet(table, out)
    except OSError as error:
        message = f"{out} cannot be written: {error.strerror or error}"
        raise UsageError(message, "name another path with --out") from None
    return (out,) if name == "parquet" else tuple(texts)
