"""The vdev tree of a pool, in the syntax of zpool (see zpoolconcepts(7)).

The parser rejects everything that zpool would reject (cmd/zpool/zpool_vdev.c):

- too few devices
- a repeated `log`, `cache` or `spare`
- a log, special or dedup vdev that is neither a disk nor a mirror
- vdevs with different redundancy, unless the layout has `-f`
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from poolproof.campaign.expression import Argument, Option, Word
from poolproof.campaign.names import did_you_mean
from poolproof.layers.arguments import Input, check_one_place
from poolproof.layers.base import StageReader

Kind = Literal["disk", "mirror", "raidz", "draid"]
Section = Literal["data", "special", "dedup", "log", "cache", "spare"]

_SECTIONS: dict[str, Section] = {section: section for section in get_args(Section) if section != "data"}
_KEYWORDS = (*_SECTIONS, "mirror", "raidz", "raidz1", "raidz2", "raidz3", "draid", "draid1", "draid2", "draid3")
_RAIDZ = re.compile(r"raidz(\d*)")
_DRAID = re.compile(r"draid(\d*)((?::\d+[a-z])*)")
_GROUP = re.compile(rf"mirror|{_RAIDZ.pattern}|{_DRAID.pattern}")
_ONCE = frozenset({"log", "cache", "spare"})
NEEDED: tuple[Section, ...] = ("data", "special", "dedup")
"""The sections whose loss would mean the loss of the pool's data."""

_REMOVABLE: tuple[Section, ...] = ("log", "cache")
_MIRRORS_ONLY = frozenset({"log", "special", "dedup"})
_MOST_RAIDZ = 255


@dataclass(frozen=True)
class Vdev:
    """A top-level vdev.

    `members`: the devices of the vdev, as indices into the layer's inputs.
    `parity`: the number of parity devices (raidz, draid).
    `data`: the number of data devices in a redundancy group (draid).
    `spares`: the number of distributed spares (draid).
    """

    kind: Kind
    members: tuple[int, ...]
    parity: int = 0
    data: int = 0
    spares: int = 0

    @property
    def _data_fraction(self) -> tuple[int, int]:
        """The fraction of the vdev's space that stores data rather than parity, as (numerator, denominator)."""
        match self.kind:
            case "raidz":
                return len(self.members) - self.parity, len(self.members)
            case "draid":
                return self.data, self.data + self.parity
        return 1, 1

    def write_factor(self, inputs: Sequence[float]) -> float:
        """Return the bytes written to leaf devices per byte of data, assuming full stripes for raidz and draid."""
        factors = [inputs[member] for member in self.members]
        data, total = self._data_fraction
        return sum(factors) if self.kind == "mirror" else min(factors) * total / data

    def capacity_bytes(self, inputs: Sequence[int]) -> int:
        smallest = min(inputs[member] for member in self.members)
        data, total = self._data_fraction
        return smallest * (len(self.members) - self.spares) * data // total if self.parity else smallest

    def stored(self, data_bytes: int) -> int:
        """Return the number of bytes that each member stores if the vdev contains `data_bytes` of data."""
        data, total = self._data_fraction
        return data_bytes * total // data // len(self.members) if self.parity else data_bytes

    def data_in(self, allocated_bytes: int) -> int:
        """Return the number of bytes of data that the vdev contains, given the space allocated in it.

        The allocated space includes parity, but counts the copies in a mirror only once.
        """
        data, total = self._data_fraction
        return allocated_bytes * data // total

    def words(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the arguments for zpool that describe this vdev. `paths`: the paths of all inputs of the layer."""
        members = tuple(paths[member] for member in self.members)
        match self.kind:
            case "mirror":
                return ("mirror", *members)
            case "raidz":
                return (f"raidz{self.parity}", *members)
            case "draid":
                return (f"draid{self.parity}:{self.data}d:{len(members)}c:{self.spares}s", *members)
        return members

    @property
    def survives(self) -> int:
        """The number of devices that may fail in any combination without data loss."""
        return len(self.members) - 1 if self.kind == "mirror" else self.parity

    def __str__(self) -> str:
        if self.kind == "disk":
            return "a single disk"
        if self.kind == "mirror":
            return f"a {len(self.members)}-way mirror"
        return f"a {self.kind}{self.parity} of {len(self.members)} devices"


@dataclass(frozen=True)
class VdevTree:
    """All vdevs of a pool, each with its section, sorted by section."""

    sections: tuple[tuple[Section, Vdev], ...]
    force: bool = False

    def of(self, *names: Section) -> tuple[Vdev, ...]:
        """Return the vdevs in these sections."""
        return tuple(vdev for section, vdev in self.sections if section in names)

    @property
    def data(self) -> tuple[Vdev, ...]:
        return self.of("data")

    def words(self, paths: Sequence[str], *names: Section) -> tuple[str, ...]:
        """Return the arguments for zpool that describe these sections (default: all).

        `paths`: the paths of all inputs of the layer.
        """
        words: list[str] = []
        for section in names or get_args(Section):
            # single disks come first, because after `mirror` zpool would take them for members of the mirror
            vdevs = sorted(self.of(section), key=lambda vdev: vdev.kind != "disk")
            words += [section] if vdevs and section != "data" else []
            words += [word for vdev in vdevs for word in vdev.words(paths)]
        return tuple(words)

    @property
    def removable(self) -> tuple[Vdev, ...]:
        """The log and cache vdevs. They can be added to an imported pool and removed from it."""
        return self.of(*_REMOVABLE)

    def without_removable(self) -> "VdevTree":
        """Return a copy of the tree without log and cache vdevs, and with the remaining inputs renumbered."""
        others = [(section, vdev) for section, vdev in self.sections if section not in _REMOVABLE]
        left = sorted(member for _, vdev in others for member in vdev.members)

        def renumbered(vdev: Vdev) -> Vdev:
            return replace(vdev, members=tuple(map(left.index, vdev.members)))

        return VdevTree(tuple((section, renumbered(vdev)) for section, vdev in others), self.force)


@dataclass
class _KeywordGroup:
    """A keyword (a section or a kind of vdev; None at the start of the stage) and the devices that follow it."""

    section: Section
    keyword: Word | None
    members: list[int] = field(default_factory=list)

    @property
    def is_vdev(self) -> bool:
        return self.keyword is not None and self.keyword.text not in _SECTIONS


def read_vdevs(reading: StageReader) -> tuple[VdevTree, tuple[Input, ...]]:
    """Parse a stage's words and groups into a vdev tree and its inputs, ignoring options.

    Raises a CampaignError if zpool would refuse the tree.
    """
    inputs: list[Input] = [(None, reading.below)] if reading.below is not None else []
    runs = [_KeywordGroup("data", None, list(range(len(inputs))))]
    force = False
    for argument in reading.arguments:
        match argument:
            case Option():
                pass
            case Word("-f"):
                force = True
            case Word(text) if text in _SECTIONS:
                if text in _ONCE and any(run.section == text for run in runs):
                    raise reading.mistake(argument, f"`{text}` can be used only once")
                runs.append(_KeywordGroup(_SECTIONS[text], argument))
            case Word(text) if _GROUP.fullmatch(text):
                section = runs[-1].section
                if section in _MIRRORS_ONLY and text != "mirror":
                    raise reading.mistake(argument, f"a {section} vdev must be a disk or a mirror, not {text}")
                if section in _MIRRORS_ONLY and not runs[-1].is_vdev and not runs[-1].members:
                    runs.pop()
                # after the devices of `cache` or `spare`, a vdev kind starts a data vdev, as in zpool
                runs.append(_KeywordGroup("data" if section in ("cache", "spare") else section, argument))
            case _:
                name = argument.text if isinstance(argument, Word) else ""
                # otherwise a misspelled keyword would be reported as an unknown device
                if name and not reading.is_device(name) and (near := did_you_mean(name, _KEYWORDS)):
                    raise reading.mistake(argument, f"`{name}` is neither a device nor a kind of vdev{near}")
                check_one_place(reading, argument, "zfs")
                runs[-1].members.append(len(inputs))
                inputs.append((argument, reading.node(argument)))
    vdevs = [(run, vdev) for run in runs for vdev in _vdevs_of(reading, run)]
    if not any(run.section == "data" for run, _ in vdevs):
        raise reading.mistake(None, "a pool needs at least one data vdev: zfs mirror a b")
    placed = [
        (vdev, run.keyword if run.is_vdev else inputs[vdev.members[0]][0])
        for run, vdev in vdevs
        if run.section in NEEDED
    ]
    if not force:
        _check_redundancy(reading, placed)
    order = get_args(Section)
    sections = sorted(((run.section, vdev) for run, vdev in vdevs), key=lambda entry: order.index(entry[0]))
    return VdevTree(tuple(sections), force), tuple(inputs)


def _vdevs_of(reading: StageReader, run: _KeywordGroup) -> list[Vdev]:
    if run.keyword is None or not run.is_vdev:
        if run.keyword is not None and not run.members:
            raise reading.mistake(run.keyword, f"`{run.keyword.text}` needs at least 1 device")
        return [Vdev("disk", (member,)) for member in run.members]
    return [_vdev(reading, run.keyword, tuple(run.members))]


def _check_redundancy(reading: StageReader, vdevs: Sequence[tuple[Vdev, Argument | None]]) -> None:
    """Raise a CampaignError if data, special and dedup vdevs differ in redundancy, because zpool would refuse them."""
    for (first, _), (second, place) in itertools.pairwise(vdevs):
        # a single disk can only be combined with single disks
        if (first.kind == "disk") != (second.kind == "disk") or first.survives != second.survives:
            message = f"zpool does not accept {first} and {second} in the same pool"
            raise reading.mistake(place, f"{message}; write `-f` to force it, as with zpool")


def _vdev(reading: StageReader, keyword: Word, members: tuple[int, ...]) -> Vdev:
    count = len(members)

    def check_count(fewest: int) -> None:
        if count < fewest:
            raise reading.mistake(keyword, f"{keyword.text} needs at least {fewest} devices, found {count}")

    if keyword.text == "mirror":
        check_count(2)
        return Vdev("mirror", members)
    if match := _RAIDZ.fullmatch(keyword.text):
        parity = _parity(reading, keyword, match[1])
        check_count(parity + 1)
        if count > _MOST_RAIDZ:
            raise reading.mistake(keyword, f"{keyword.text} takes at most {_MOST_RAIDZ} devices")
        return Vdev("raidz", members, parity)
    # draid[parity][:<data>d][:<children>c][:<spares>s]; by default data is at most 8, as in zpool
    match = _DRAID.fullmatch(keyword.text)
    assert match is not None
    parity = _parity(reading, keyword, match[1])
    parts = {part[-1]: int(part[:-1]) for part in match[2].split(":") if part}
    if not parts.keys() <= {"d", "c", "s"}:
        message = "write draid as draid[parity][:<data>d][:<children>c][:<spares>s], for example draid2:4d:1s"
        raise reading.mistake(keyword, message)
    spares = parts.get("s", 0)
    check_count(parity + 1 + spares)
    if parts.get("c", count) != count:
        raise reading.mistake(keyword, f"{keyword.text} specifies {parts['c']} children, but there are {count} devices")
    data = parts.get("d", min(8, count - spares - parity))
    if data < 1:
        raise reading.mistake(keyword, f"{keyword.text} needs at least 1 data device per group, as in draid2:4d")
    if data > count - spares - parity:
        needed = f"{data + parity + spares} devices ({data} data, {parity} parity, {spares} spare), found {count}"
        raise reading.mistake(keyword, f"{keyword.text} needs at least {needed}")
    return Vdev("draid", members, parity, data, spares)


def _parity(reading: StageReader, keyword: Word, digits: str) -> int:
    if digits not in ("", "1", "2", "3"):
        raise reading.mistake(keyword, f"`{keyword.text}`: the parity must be 1, 2 or 3")
    return int(digits or "1")
