"""Columnar copies of trials in the user's cache, so that later queries need not parse all the JSON again.

Starting with the oldest, files are grouped until each group is large enough for a copy. The copy's name is a hash of
the paths, sizes and modification times of the files in its group, so if one of the files changes, the outdated copy is
not found.
"""

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from poolproof.files.cache import own_cache
from poolproof.results.query import views

WORTH_IT_BYTES = 16_000_000
"""The minimum total size, in bytes, of files for which copies are made. Smaller files can be parsed quickly enough."""
GROUP_BYTES = 16_000_000
_UNUSED_S = 30 * 86_400.0
_FORM = f"2 {views.RAW}"
_OWN = re.compile(r"\.?[0-9a-f]{32}\.(cells|parquet(\.\d+)?)|\.part-[0-9a-f]+")


def find(files: Iterable[Path]) -> tuple[tuple[Path, ...], frozenset[Path]]:
    """Return the existing copies, and the files that need not be read because of them."""
    groups = list(_groups(files))
    cache = own_cache("query") if groups else None
    found = {copy: group for group in groups if cache and (copy := cache / _name_of(group)).is_file()}
    for copy in found:
        with contextlib.suppress(OSError):
            os.utime(copy)
    return tuple(found), frozenset(path for group in found.values() for path in group)


def read(copy: Path) -> str:
    """Return the SQL that reads a copy and yields the same columns as the original file."""
    return f"select {', '.join(views.RAW)}, filename from read_parquet({views.literal(str(copy))})"


def keep(files: Sequence[Path]) -> None:
    """Copy every complete group of files that has no copy yet, and delete cached files that were not used for 30 days.

    Errors are ignored, because queries also work without copies.
    """
    import duckdb

    oldest = time.time() - _UNUSED_S
    with contextlib.suppress(OSError, duckdb.Error):
        cache = own_cache("query")
        if cache is None:
            return
        for group in _groups(files):
            if not (cache / _name_of(group)).is_file():
                _make(group, cache)
        for path in cache.iterdir():
            is_own = _OWN.fullmatch(path.name) is not None
            if is_own and path.lstat().st_mtime < oldest:  # its files have probably changed or been deleted
                path.unlink(missing_ok=True)


def worth_keeping(files: Iterable[Path]) -> bool:
    """True if at least one complete group of files has no copy yet."""
    groups = list(_groups(files))
    cache = own_cache("query") if groups else None
    return cache is not None and any(not (cache / _name_of(group)).is_file() for group in groups)


def _make(group: Sequence[Path], cache: Path) -> None:
    """Write the copy to a temporary file, then rename that to its final name.

    If one of the original files has changed in the meantime, the temporary file is deleted instead.
    """
    import duckdb

    copy = cache / _name_of(group)
    partial = copy.with_name(f".{copy.name}.{os.getpid()}")
    try:
        with duckdb.connect(config={"memory_limit": "600MB", "autoload_known_extensions": "false"}) as connection:
            connection.execute("set preserve_insertion_order = false")
            lines = views.read_lines([str(path) for path in group])
            connection.execute(f"copy ({lines}) to {views.literal(str(partial))} (format parquet, compression lz4)")
        if _name_of(group) == copy.name:
            partial.rename(copy)
    finally:
        partial.unlink(missing_ok=True)


def _groups(files: Iterable[Path]) -> Iterator[tuple[Path, ...]]:
    """Yield the complete groups, starting with the oldest files, so that a new run does not change existing groups."""
    stats = sorted((path.stat().st_mtime_ns, path, path.stat().st_size) for path in files)
    if sum(size for _, _, size in stats) < WORTH_IT_BYTES:
        return
    group: list[Path] = []
    bytes_in_group = 0
    for _, path, size in stats:
        group.append(path)
        bytes_in_group += size
        if bytes_in_group >= GROUP_BYTES:
            yield tuple(group)
            group, bytes_in_group = [], 0


def _name_of(group: Sequence[Path]) -> str:
    stats = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in group]
    return f"{hashlib.sha256(repr((_FORM, stats)).encode()).hexdigest()[:32]}.parquet"
