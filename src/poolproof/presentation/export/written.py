"""The export formats by name, and functions that write their files."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from poolproof.errors import UsageError
from poolproof.presentation.export.columns import csv_text, parquet_bytes
from poolproof.presentation.export.gnuplot import dat_files
from poolproof.presentation.export.influx import influx_text
from poolproof.presentation.export.markdown import markdown_text
from poolproof.presentation.export.openmetrics import openmetrics_text
from poolproof.presentation.export.rows import ExportTable

TEXTS: Mapping[str, Callable[[ExportTable], str]] = {
    "csv": csv_text,
    "markdown": markdown_text,
    "openmetrics": openmetrics_text,
    "influx": influx_text,
}
"""The formats that are a single text file."""

_ENDINGS = {
    "csv": ".csv",
    "parquet": ".parquet",
    "dat": "-dat",
    "markdown": ".md",
    "openmetrics": ".om",
    "influx": ".lp",
}


def default_place(name: str, table: ExportTable) -> Path:
    """Return the default path of an export: the run's name with the format's extension, in the current directory.

    Raises:
        UsageError: the path already exists.
    """
    path = Path(f"{table.run}{_ENDINGS[name]}")
    if path.exists():
        raise UsageError(f"{path} already exists", f"to overwrite it: --out {path}; or choose another path with --out")
    return path


def export_files(name: str, table: ExportTable, out: Path) -> Mapping[Path, bytes]:
    """Return the content of each file of an export, by path."""
    if name == "parquet":
        return {out: parquet_bytes(table)}
    if name == "dat":
        return {out / place: text.encode() for place, text in dat_files(table).items()}
    return {out: TEXTS[name](table).encode()}


def write_files(files: Iterable[tuple[Path, bytes]]) -> list[str]:
    """Write the files and return their paths.

    Raises:
        UsageError: a file cannot be written.
    """
    written = []
    for path, content in files:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror or error}"
            raise UsageError(message, "choose another path with --out") from None
        written.append(str(path))
    return written
