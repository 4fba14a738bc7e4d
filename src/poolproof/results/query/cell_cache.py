"""The values that are computed in Python for each cell of a run, stored in the user's cache.

A query of confidence intervals needs them. They take about a millisecond per cell, so they are stored if the trials of
the runs are large (`copies.WORTH_IT_BYTES`). The name of a stored file is a hash of the paths, sizes and modification
times of the run's files and of poolproof's own modules, so if any of them changes, the outdated file is not found.
"""

import contextlib
import functools
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from types import GenericAlias
from typing import Any

import msgspec

from poolproof.errors import PoolproofError
from poolproof.files.cache import own_cache
from poolproof.files.reading import read_regular
from poolproof.files.writing import write_output
from poolproof.results.query import copies, views
from poolproof.results.query.find_runs import FoundRun
from poolproof.results.runs.loading import load_run
from poolproof.version import __version__

SUFFIX = ".cells"
_SOURCES = ("run.json", "campaign.yaml", "trials.jsonl")
_PACKAGE = Path(__file__).parents[2]
_MODULES = ("*.py", "campaign/*.py", "results/**/*.py", "statistics/*.py")

_Row = tuple[object, ...]


def known_rows(runs: Iterable[FoundRun]) -> list[_Row]:
    """Return the rows of `views.KNOWN_CELLS`, one for each cell. Runs that can't be loaded are left out."""
    found = tuple(runs)
    bytes_of_trials = sum(_size(run.trials_path) for run in found)
    cache = own_cache("query") if bytes_of_trials >= copies.WORTH_IT_BYTES else None
    return [(run.name, *row) for run in found for row in (_stored(run, cache) if cache else _computed(run))]


def _computed(run: FoundRun) -> list[_Row]:
    try:
        loaded = load_run(run.path, lenient=True)
    except PoolproofError:
        return []
    return [views.known_values(cell) for cell in (*loaded.cells, *loaded.bare)]


def _stored(run: FoundRun, cache: Path) -> list[_Row]:
    """Return the stored rows of a run. If there are none, compute and store them.

    Rows are not stored if a file of the run changes in the meantime. Errors are ignored, because the file is only a
    cache.
    """
    path = cache / _name(run)
    with contextlib.suppress(OSError, msgspec.DecodeError):
        rows = _decoder().decode(read_regular(path))
        os.utime(path)
        return rows
    rows = _computed(run)
    with contextlib.suppress(OSError):
        if _name(run) == path.name:
            write_output(path, msgspec.msgpack.encode(rows), lasting=False)
    return rows


@functools.cache
def _decoder() -> msgspec.msgpack.Decoder[list[_Row]]:
    """Return a decoder of rows, which have the columns of `views.known_columns` except for the run."""
    types = {"VARCHAR": str | None, "BOOLEAN": bool | None, "DOUBLE": float | None}
    _run, *kinds = views.known_columns().values()
    row: Any = GenericAlias(tuple, tuple(types[kind] for kind in kinds))
    return msgspec.msgpack.Decoder(list[row])


def _name(run: FoundRun) -> str:
    stats = (_modules(), str(run.path), [_stat(run.path / name) for name in _SOURCES])
    return f"{hashlib.sha256(repr(stats).encode()).hexdigest()[:32]}{SUFFIX}"


@functools.cache
def _modules() -> str:
    """Return the version of poolproof, and the sizes and modification times of the modules that compute the values."""
    paths = sorted(path for pattern in _MODULES for path in _PACKAGE.glob(pattern))
    return repr((__version__, [(path.name, _stat(path)) for path in paths]))


def _stat(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _size(path: Path) -> int:
    found = _stat(path)
    return found[0] if found else 0
