"""Find directories and devices that a text shows to be in memory, by the commands that mount or create them.

FreeBSD's mdconfig creates a disk in RAM (`-t malloc`) or in swap space (`-t swap`), which is in RAM unless memory is
short. The output of `mount` and `df` may be from another machine than the tested one. Therefore it is kept apart, as a
quotation, and rules need values that are typical of memory in addition.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from poolproof.foreign.audit.surroundings.quoted_conditions import quotation
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import Load

_WHERE = r"(?P<where>/[^\s;|&`'\"()]{1,200})"
_MEMORY_DEVICE = r"/dev/(?:ram|zram|rd)\d{1,4}"
_MOUNT = re.compile(
    r"(?:^|[\s;|&`#$>])mount\s(?P<options>(?:[^\s;|&`]{1,200}\s+){0,12}?)(?P<device>[^\s;|&`-][^\s;|&`]{0,200})\s+"
    rf"{_WHERE}\s*(?:$|[;|&`#])"
)
_UNMOUNT = re.compile(rf"(?:^|[\s;|&`#$>])umount\s(?:-\w{{1,9}}\s){{0,3}}{_WHERE}(?=\s|$|[;|&`])")
_TYPE = re.compile(r"(?:^|\s)-t\s*(?:tmpfs|ramfs)\b")
_MEMORY_DISK = re.compile(
    r"(?:^|[\s;|&`#$>])mdconfig\s(?=[^;|&`]{0,120}-t\s?(?:malloc|swap)\b)[^;|&`]{0,120}-u\s?(?:md)?(?P<unit>\d{1,4})\b"
)
_LISTED = re.compile(rf"^\s*(?P<device>\S{{1,200}})\s+on\s+{_WHERE}\s+(?:type\s+|\()(?P<type>[\w.]{{1,30}})\b")
_DF = re.compile(
    rf"^\s*(?P<device>\S{{1,200}})\s+(?:(?P<type>[a-z]\w{{1,20}})\s+)?(?:\d[\d.,]{{0,15}}[KMGTP]?i?\s+){{3}}\d{{1,3}}%\s+{_WHERE}\s*$"
)
_IN_MEMORY = ("tmpfs", "ramfs")
_TMPFS, _RAM_DISK, _DISK = "tmpfs", "a RAM disk", ""
_LONGEST, _MOST = 600, 500


@dataclass(frozen=True)
class MemoryMounts:
    """The mount points and devices of a text.

    `made`: those that commands mounted, unmounted or created, in line order: the line, the path, and the kind of
    memory, which is empty for other kinds of storage.
    `listed`: the mount points in the output of `mount` and `df`, each mapped to a quotation if it is in memory.
    """

    made: Sequence[tuple[int, str, str]] = ()
    listed: Mapping[str, str] = field(default_factory=dict)

    def memory_of(self, load: Load, line: int) -> str | None:
        """Return the kind of memory that contained all files of a load at this line, or None if it may be a disk."""
        return self._common(load, {where: kind for number, where, kind in self.made if number < line}) or None

    def words(self, load: Load) -> str:
        """Return a quotation that shows that all files of a load are in memory, or an empty string."""
        return self._common(load, self.listed)

    @staticmethod
    def _common(load: Load, places: Mapping[str, str]) -> str:
        found = {_of(extent.file, places) for part in load.parts for extent in part.extents}
        return found.pop() if len(found) == 1 else ""


NO_MOUNTS = MemoryMounts()
"""A text that shows no mounts."""


def find_memory_mounts(numbered: Sequence[Line]) -> MemoryMounts:
    """Return the mounts that a text shows: at most 500 in lists, and none by commands if there are more than 500."""
    made: list[tuple[int, str, str]] = []
    listed: dict[str, str] = {}
    for number, line in numbered:
        if len(line) > _LONGEST:
            continue
        made += [(number, where.rstrip("/") or "/", kind) for where, kind in _mounted(line)]
        if (match := _LISTED.match(line) or _DF.match(line)) and len(listed) < _MOST:
            is_memory = {match["type"], match["device"]} & {*_IN_MEMORY} or _is_ram_disk(match["device"])
            words = quotation(number, " ".join(line.split())[:80]) if is_memory else _DISK
            listed.setdefault(match["where"].rstrip("/") or "/", words)
    return MemoryMounts(made if len(made) <= _MOST else (), listed)


def _mounted(line: str) -> Iterator[tuple[str, str]]:
    """Yield the places that the commands on a line mount, unmount or create, each with its kind of memory."""
    if disk := _MEMORY_DISK.search(line):
        yield f"/dev/md{disk['unit']}", _RAM_DISK
    if "mount" not in line:
        return
    for match in _UNMOUNT.finditer(line):
        yield match["where"], _DISK
    for match in _MOUNT.finditer(line):
        if _TYPE.search(match["options"]):
            yield match["where"], _TMPFS
        else:
            yield match["where"], _RAM_DISK if _is_ram_disk(match["device"]) else _DISK


def _is_ram_disk(device: str) -> bool:
    return re.fullmatch(_MEMORY_DEVICE, device) is not None


def _of(path: str, places: Mapping[str, str]) -> str:
    """Return what is known about the place of a path, from the longest of the mount points above it."""
    if path in places:
        return places[path]
    above = [where for where in places if path.startswith(f"{where.rstrip('/')}/")]
    return places[max(above, key=len)] if above else ""
