"""The export formats by name, and functions that write their files."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from poolproof.errors import UsageError, as_word
from poolproof.files.writing import write_fifo, write_output
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
"""The formats that consist of a single text file."""

_STANDARD = (Path("/dev/stdout"), Path("/dev/stderr"))
_OPEN_FILES = (Path("/dev/fd"), Path("/proc/self/fd"))

_ENDINGS = {
    "csv": ".csv",
    "parquet": ".parquet",
    "dat": "-dat",
    "markdown": ".md",
    "openmetrics": ".om",
    "influx": ".lp",
}


def default_place(name: str, table: ExportTable) -> Path:
    """Return an export's default path in the current directory: the run's name plus the format's extension.

    Raises a UsageError if the path already exists, even if it is only a broken symbolic link.
    """
    path = Path(f"{table.run}{_ENDINGS[name]}")
    if os.path.lexists(path):
        raise UsageError(
            f"{path} already exists", f"to overwrite it: --out {as_word(path)}; or choose another path with --out"
        )
    return path


def export_files(name: str, table: ExportTable, out: Path) -> Mapping[Path, bytes]:
    """Return the contents of each exported file, keyed by path."""
    if name == "parquet":
        return {out: parquet_bytes(table)}
    if name == "dat":
        return {out / place: text.encode() for place, text in dat_files(table).items()}
    return {out: TEXTS[name](table).encode()}


def write_files(files: Iterable[tuple[Path, bytes]], *, named: Path | None, private_as: Path) -> list[str]:
    """Write the files and return their paths.

    The folders may come from a stranger, together with the run. Therefore, no symbolic link below `named` or below the
    current directory is followed, and an existing symbolic link is replaced by the file.

    `named`: the file or folder that the user named, or None if the files go to the current directory under their
    default names.
    `private_as`: an existing file. New files don't get wider permissions than this one.

    Raises a UsageError if a file cannot be written.
    """
    written = []
    for path, content in files:
        try:
            if path == named and not path.is_symlink() and path.is_fifo():
                write_fifo(path, content)
            elif path == named and _is_stream(path):
                path.write_bytes(content)
            else:
                root = path.parent if path == named else named or Path()
                root.mkdir(parents=True, exist_ok=True)
                write_output(path, content, root=root, lasting=False, no_wider_than=private_as)
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror or error}"
            raise UsageError(message, "choose another path with --out") from None
        written.append(str(path))
    return written


def _is_stream(path: Path) -> bool:
    """True if the path is a character device, or an open file of this process, such as /dev/stdout.

    Other paths in /dev are not: a block device must not be overwritten, and anyone can put a link into /dev/shm. A link
    to a character device may come from a stranger, and merely opening some of them, such as a watchdog, has effects.
    """
    is_open_file = path in _STANDARD or path.parent in _OPEN_FILES
    return is_open_file or (path.is_char_device() and not path.is_symlink())
