"""Find the mount points and datasets on ZFS that a text mentions, if the release of ZFS ignores direct=1.

OpenZFS up to 2.2 ignores O_DIRECT on datasets, and no release honours it on zvols. OpenZFS 2.3.0 was released in
January 2025, so a text whose dates are all before 2025 is about an older release. A directory with a name such as `zfs`
or `zfs-test` is on ZFS, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from poolproof.foreign.audit.surroundings.quoted_conditions import quotation
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import Load

_MOUNT = re.compile(r"\bon (?P<where>/\S{0,200}) type zfs \(")
_DF = re.compile(r"^\s*\S{1,100}\s+zfs\s+\d[\d.,]{0,15}[KMGTP]?\s.{0,60}%\s+(?P<where>/\S{0,200})\s*$")
_FSTAB = re.compile(r"^\s*\S{1,100}\s+(?P<where>/\S{0,200})\s+zfs\s+\S")
_LIST = re.compile(r"^\s*[\w.-]{1,60}(?:/\S{1,100})?\s+(?:\d[\d.,]{0,9}[KMGTP]?\s+){2,3}(?P<where>/\S{0,200})\s*$")
_LIST_HEADER = re.compile(r"^\s*NAME\s+USED\s+AVAIL\s+REFER\s+MOUNTPOINT\b")
_GET = re.compile(
    r"^\s*(?P<name>[\w.-]{1,60}(?:/\S{1,100})?)\s+(?:recordsize|primarycache|compress(?:ion|ratio)|atime|xattr|logbias"
    r"|mountpoint|checksum|dnodesize|type)\s+\S{1,60}\s+(?:local|default|received|inherited|-)"
)
_CREATE = re.compile(r"\b(?P<program>zfs|zpool) create (?P<words>[^|;&`<>]{1,400})")
_MOUNTPOINT = re.compile(r"\bmountpoint=(?P<where>/\S{1,200})")
_POOL = re.compile(r"^\s*pool:\s+(?P<name>[\w.-]{1,60})\s*$")
_TAKE_A_WORD = ("-o", "-O", "-m", "-R", "-t", "-V", "-b")
_ZVOL = re.compile(r"/dev/(?:zvol/|zd\d)")
_NAMED = re.compile(r"(?:^|/)zfs(?:[\W\d_][^/]*|pool[^/]*|tank[^/]*|test[^/]*)?/", re.IGNORECASE)
_NAMES_OTHERS = re.compile(r"ext[234]|xfs|btrfs|bcachefs|f2fs|nfs|cifs|smb|ceph|tmpfs", re.IGNORECASE)
_RELEASE = re.compile(
    r"\b(?:open)?zfs(?:-kmod|-dkms|onlinux|utils(?:-linux)?)?(?:[ -]?version:?)?[ :=-]{1,3}v?"
    r"(?P<major>[0-3])\.(?P<minor>\d{1,2})(?![\w%])",
    re.IGNORECASE,
)
_YEAR = re.compile(
    r"(?<![\d./-])(?P<iso>20[0-3]\d)-[01]\d-[0-3]\d(?!\d)"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\s+(?:[A-Z][a-z]{2}\s+\d{1,2}|\d{1,2}\s+[A-Z][a-z]{2})\s(?:[\d:]{5,8}\s(?:\w{3,4}\s)?)?"
    r"(?P<year>20[0-3]\d)\b"
)
_HONOURS, _HONOURS_SINCE = (2, 3), 2025
_LONGEST = 600


@dataclass(frozen=True)
class OldZfs:
    """Paths on ZFS, each with a quotation. Empty if the release may honour direct=1.

    `is_old`: True if the release, or all dates in the text, are older than OpenZFS 2.3.
    """

    mounts: tuple[tuple[str, str], ...] = ()
    is_old: bool = False

    def ignores_direct(self, load: Load) -> str:
        """Return why direct=1 does not bypass the ARC for all files of a load, or an empty string."""
        paths = [extent.file for part in load.parts for extent in part.extents]
        found = [self._why(path) for path in paths]
        return found[0] if found and all(found) else ""

    def _why(self, path: str) -> str:
        if _ZVOL.match(path):
            return f"{path} is a zvol, on which no OpenZFS release honours direct=1"
        below = [words for where, words in self.mounts if path.startswith(f"{where.rstrip('/')}/")]
        if self.is_old and not below and _NAMED.search(path) and not _NAMES_OTHERS.search(path):
            below = ["its path names it"]
        return f"{path} is on ZFS ({below[0]}), which ignores direct=1 before OpenZFS 2.3" if below else ""


NO_ZFS = OldZfs()
"""The result for a text without ZFS, or with a release that may honour direct=1."""


def find_old_zfs(numbered: Sequence[Line]) -> OldZfs:
    """Return the paths on ZFS in a text if its release is older than OpenZFS 2.3, otherwise none.

    If the text does not state a release, its dates must all be before 2025.
    """
    lines = [(number, line) for number, line in numbered if len(line) <= _LONGEST]
    is_old = _is_old(line for _, line in lines)
    return OldZfs(tuple(_places(lines)), is_old=True) if is_old else NO_ZFS


def _is_old(lines: Iterable[str]) -> bool:
    releases, years = set[tuple[int, int]](), set[int]()
    for line in lines:
        releases |= {(int(match["major"]), int(match["minor"])) for match in _RELEASE.finditer(line)}
        years |= {int(match["iso"] or match["year"]) for match in _YEAR.finditer(line)}
    if releases:
        return max(releases) < _HONOURS
    return bool(years) and max(years) < _HONOURS_SINCE


def _places(lines: Sequence[Line]) -> Iterator[tuple[str, str]]:
    is_list = False
    for number, line in lines:
        is_list = _LIST_HEADER.match(line) is not None or (is_list and _LIST.match(line) is not None)
        words = quotation(number, " ".join(line.split())[:80])
        match = _MOUNT.search(line) or _DF.match(line) or _FSTAB.match(line) or (_LIST.match(line) if is_list else None)
        if match is not None and match["where"] != "/":
            yield match["where"], words
        elif named := _GET.match(line) or _POOL.match(line):
            yield from _below(named["name"], words)
        elif created := _CREATE.search(line):
            where = _MOUNTPOINT.search(created["words"])
            if where is not None:
                yield where["where"], words
            else:
                yield from _below(_first_name(created["words"]), words)


def _below(name: str, words: str) -> Iterator[tuple[str, str]]:
    """Yield the usual mount points of a pool or a dataset: that of ZFS, and that of TrueNAS."""
    if name:
        yield f"/{name}", words
        yield f"/mnt/{name}", words


def _first_name(words: str) -> str:
    """Return the first word of a command line that is neither an option nor the value of one."""
    takes = False
    for word in words.split():
        if not takes and not word.startswith("-") and "=" not in word:
            return word.strip(".,:)\"'")
        takes = word in _TAKE_A_WORD
    return ""
