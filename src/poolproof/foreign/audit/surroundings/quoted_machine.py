"""Facts about the machine that other programs printed: the amount of RAM, and the target's compression.

The output of `free`, /proc/meminfo, `zfs get` and `mount` is used. If no program shows the amount of RAM, it is taken
from sentences such as "64 GB of RAM". A limit on dirty data is taken from vm.dirty_bytes or a sentence.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from poolproof.campaign.generator_option import DEFAULT_GENERATOR
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.foreign.audit.context import Context
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.model import Load
from poolproof.units import format_size, parse_size

_PROMPT = re.compile(r"^\s*(?:[>|]\s*)?[\[(]?[\w.-]{1,32}@(?P<host>[\w.-]{1,63})[:\s\])][^$#%>❯\n]{0,80}[$#%>❯]")
_BARE_PROMPT = re.compile(
    r"^\s*(?P<host>[A-Za-z][\w-]{1,30})[#$%] (?:sudo |time )?(?:cat|grep|free|fio|dd|zfs|zpool)\b"
)
_FREE_HEADER = re.compile(r"^\s*total\s+used\s+free\b")
_FREE = re.compile(r"^\s*Mem:\s+(?P<total>\d{1,15}(?:\.\d+)?)(?P<unit>[KMGT]?)i?B?\s")
_MEMINFO = re.compile(r"^\s*MemTotal:\s+(?P<kb>\d{1,15}) kB")
_PRINTED = (
    re.compile(  # neofetch and inxi
        r"^\W{0,9}Memory:\s+(?:(?:RAM: )?total: |\d{1,7}(?:\.\d+)?\s?[MG]i?B\s?/\s?)"
        r"(?P<size>\d{1,7}(?:\.\d+)?)\s?(?P<unit>[MG])i?B\b"
    ),
    re.compile(r"^\s*(?P<unit>[KMG])iB Mem ?:\s+(?P<size>\d{1,12}(?:\.\d+)?)\s?total\b"),  # top
    re.compile(r"^\s*Total (?:online )?memory:\s+(?P<size>\d{1,7}(?:\.\d+)?)\s?(?P<unit>[MGT])i?B?\s*$", re.I),  # lsmem
    re.compile(r"^\s*(?:hw\.(?:phys|real)mem|real memory)\s{0,3}[:=]\s{0,3}(?P<size>\d{9,15})(?P<unit>)\b"),  # FreeBSD
)
_ZFS_GET = re.compile(r"^\s*(?P<where>\S+)\s+compression\s+(?P<value>off|on|lz4|lzjb|zle|zstd\S*|gzip\S*)\s+\S+")
_ZFS_SET = re.compile(r"(?:^|[\s`\"'(/])(?P<program>zfs|zpool) (?P<verb>set|create) (?P<words>[^|;&`<>]{1,300})")
_COMPRESSION = re.compile(r"compression=(?P<value>off|on|lz4|lzjb|zle|zstd[\w-]*|gzip[\w-]*)$")
_TAKE_A_WORD = ("-o", "-O", "-m", "-R", "-t", "-V", "-b")
_MOUNT = re.compile(r"\bon (?P<where>/\S*) type btrfs \([^)]*\bcompress(?:-force)?=(?P<value>zstd|lzo|zlib)")
_MOUNTED = (
    re.compile(  # the command
        r"(?:^|[\s#$])mount\s[^|;&]{0,200}?\bcompress(?:-force)?=(?P<value>zstd|lzo|zlib)\S{0,100}\s+\S{1,200}\s+"
        r"(?P<where>/\S{1,200})\s*$"
    ),
    re.compile(  # /etc/fstab
        r"^\s*\S{1,200}\s+(?P<where>/\S{0,200})\s+btrfs\s+\S{0,200}?\bcompress(?:-force)?=(?P<value>zstd|lzo|zlib)\b"
    ),
    re.compile(r"\bbtrfs prop(?:erty)? set (?P<where>/\S{1,200}) compression (?P<value>zstd|lzo|zlib)\b"),
)
_NFS3 = re.compile(r"\S:/\S{0,200} on (?P<where>/\S{0,200}) type nfs \([^()]{0,400}\bvers=3\b")
_ANY_MOUNT = re.compile(r" on /\S{0,200} type \S{1,30} \(")
_SAID = (
    re.compile(
        r"(?<![\w.-])(?:(?P<count>\d{1,2})\s?[x×*]\s?)?(?P<size>\d{1,4}(?:\.\d)?)\s?(?P<unit>[MGT])"
        r"(?:i?B|igs?|igabytes?|ig)?\s+(?:of\s+)?"
        r"(?:(?:ECC|L?R?U?DIMM|DDR\d?\S*|reg\w*|system|main|physical|total|installed)\s+){0,3}"
        r"(?:RAM|memory)\b(?!\s*(?:disks?\b|drives?\b|cache|usage|limit|stick|module|controller))",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:RAM|memory)(?:\s+size)?(?:\s?[:=|]|\s-)\s*(?:DDR\d\S*\s+|ECC\s+)?"
        r"(?:(?P<count>\d{1,2})\s?[x×*]\s?)?(?P<size>\d{1,4}(?:\.\d{1,2})?)\s?(?P<unit>[MGT])i?B?\b"
        r"(?:\s?[x×*]\s?(?P<times>\d{1,2})\b)?(?!\s?/\s?\d)",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:RAM|memory)\s?\((?P<unit>[MGT])i?B\)\s?[:=|]\s?(?P<size>\d{1,6})\b", re.IGNORECASE),
    re.compile(
        r"(?<![\w.-])(?:(?P<count>\d{1,2})\s?[x×*]\s?)?(?P<size>\d{1,4})\s?(?P<unit>[MGT])i?B?\s+"
        r"(?:(?:of|reg\w*|ECC)\s+){0,2}(?:DDR[2-5]\S*|ECC)\b(?!\s+(?:ECC\s+)?(?:RAM|memory)\b)",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?<![\w.-])(?P<size>\d{1,3})\s?(?P<unit>G)i?B?\s+(?:VM|VPS|droplet|virtual machine)\b"
        r"(?![\s-]*(?:disks?|images?)\b)",
        re.IGNORECASE,
    ),
)
_NOT_THE_RAM = re.compile(
    r"\b(?:per|each|every|needs?|require\w*|requiring|recommend\w*|at least|minimum|more|extra|less|free|used?|using"
    r"|uses|swap|arc|cache|if|would|could|should|upgrad\w*|add\w*|gpu|video|vram|rtx|gtx|controllers?|raid|bbu|buffers?"
    r"|vms?|guests?|hosts?|containers?|docker|not?|n't|double|twice)\b|\d\s?%",
    re.IGNORECASE,
)
_DIRTY_BYTES = re.compile(
    r"\bdirty_bytes\s?=\s?(?P<after>\d{1,15})\b|\becho (?P<before>\d{1,15}) ?>\s?\S{0,40}/dirty_bytes\b"
)
_DIRTY_SAID = re.compile(
    r"\b(?:limit\w*|capp(?:ed|ing)|restrict\w*)\b[^.;]{0,40}?\bdirty (?:buffers?|pages?|data|memory)\b[^.;\d]{0,30}"
    r"(?:\d{1,4}\s?(?:/|and|or)\s?)?(?P<size>\d{1,4})\s?(?P<unit>[MG])i?B\b",
    re.IGNORECASE,
)
_NEAR = 60
_LONGEST_MOUNT = 1000
_NFS = "nfs"  # the kernel's name of versions 2 and 3; version 4 is nfs4
_OFF = "off"
_Fact = TypeVar("_Fact")


@dataclass(frozen=True)
class QuotedMachine:
    """Facts about the machine, with None for unknown facts.

    `where`: the dataset or mount point to which the file system and the compression apply.
    `dirty_limit_bytes`: the amount of dirty data above which the kernel makes writers wait.
    `nfs3_mounts`: the mount points of NFS version 3. Empty if the text also shows mounts of other file systems.
    `ram_words`, `dirty_limit_words`, `compression_words`: the facts as text, with the line on which each was found.
    """

    ram_bytes: int | None = None
    ram_words: str = ""
    dirty_limit_bytes: int | None = None
    dirty_limit_words: str = ""
    file_system: str | None = None
    compression: str | None = None
    compression_words: str = ""
    where: str = ""
    nfs3_mounts: tuple[str, ...] = ()


def host_of(line: str) -> str:
    """Return the name of the machine in a shell prompt, such as `root@nas:~#` or `nas$ fio`, or an empty string."""
    match = _PROMPT.match(line) or _BARE_PROMPT.match(line)
    return match["host"] if match else ""


UNKNOWN = QuotedMachine()
"""A machine about which nothing is known."""


_ANY_HOST = None


@dataclass(frozen=True)
class QuotedMachines:
    """The facts that programs printed, keyed by the host name in the shell prompt above them.

    The host is an empty string for facts above the first prompt. The key None contains the facts of all hosts. Each
    fact has its line number. At most two different values of a fact are kept, because two are enough to contradict each
    other.

    `memories`: the amounts of RAM that programs printed.
    `said`: the amounts of RAM in sentences, which apply to every host.
    `stores`: the file systems with their compression and dataset.
    `dirty_limits`: the limits on dirty data that commands set or sentences give, which apply to every host.
    `nfs3_mounts`: the mount points of NFS version 3 if no other mounts are shown. They apply to every host.
    """

    memories: Mapping[str | None, Mapping[int, int]]
    stores: Mapping[str | None, Mapping[tuple[str, str, str], int]]
    said: Mapping[int, int]
    dirty_limits: Mapping[int, int] = field(default_factory=dict)
    nfs3_mounts: tuple[str, ...] = ()

    def of(self, host: str) -> QuotedMachine:
        """Return the facts about a host, or those about the only machine if the host is an empty string.

        Of several limits on dirty data, the highest is used. Any other fact with contradictory values counts as
        unknown.
        """
        keys = ("", host) if host else (_ANY_HOST,)
        memories = {size: line for key in keys for size, line in self.memories.get(key, {}).items()} or self.said
        stores = {store: line for key in keys for store, line in self.stores.get(key, {}).items()}
        machine = replace(UNKNOWN, nfs3_mounts=self.nfs3_mounts)
        if len(memories) == 1:
            size, line_number = next(iter(memories.items()))
            machine = replace(machine, ram_bytes=size, ram_words=f"line {line_number}: RAM is {format_size(size)}")
        if self.dirty_limits:
            most = max(self.dirty_limits)
            words = f"line {self.dirty_limits[most]}: at most {format_size(most)} of data is dirty"
            machine = replace(machine, dirty_limit_bytes=most, dirty_limit_words=words)
        if len(stores) == 1:
            (file_system, value, where), line_number = next(iter(stores.items()))
            words = f"line {line_number}: compression is {value} on {file_system}"
            machine = replace(machine, file_system=file_system, compression=value, compression_words=words, where=where)
        return machine


NO_MACHINES = QuotedMachines({}, {}, {})
"""The facts in a text that contains none."""


def find_machines(text: str) -> QuotedMachines:
    """Return the facts about machines that programs printed or that the text states."""
    numbered = plain_lines(text)
    memories: dict[str | None, dict[int, int]] = {}
    stores: dict[str | None, dict[tuple[str, str, str], int]] = {}
    prompt = ""
    for number, line in numbered:
        prompt = host_of(line) or prompt
        if (size := _printed_ram(numbered, number, line)) is not None:
            _note(memories, prompt, size, number)
        elif (store := _printed_store(line)) is not None:
            _note(stores, prompt, store, number)
    said = {size: number for number, line in reversed(numbered) for size in _said(line)}
    dirty = {size: number for number, line in reversed(numbered) for size in _dirty_limits(line)}
    return QuotedMachines(memories, stores, said, dirty, _nfs3_mounts(line for _, line in numbered))


def _nfs3_mounts(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the mount points of NFS version 3, or an empty tuple if the lines also show mounts of other file systems.

    NFS version 4 counts as another file system: with a delegation, closing a file does not flush it. The options may be
    on the next line.
    """
    found: list[str] = []
    above = ""
    for line in lines:
        bare = line.strip()[:_LONGEST_MOUNT]
        whole = f"{above} {bare}" if above.endswith(" type nfs") and bare.startswith("(") else bare
        above = bare
        if _ANY_MOUNT.search(whole):
            match = _NFS3.search(whole)
            if match is None:
                return ()
            found.append(match["where"])
    return tuple(dict.fromkeys(found))


def _note(facts: dict[str | None, dict[_Fact, int]], host: str, fact: _Fact, line: int) -> None:
    for key in (host, _ANY_HOST):
        known = facts.setdefault(key, {})
        if len(known) < 2:
            known.setdefault(fact, line)


def _printed_ram(numbered: tuple[tuple[int, str], ...], number: int, line: str) -> int | None:
    """Return the amount of RAM in a line of /proc/meminfo, `free`, `top` or a similar program, else None."""
    if match := _MEMINFO.match(line):
        return int(match["kb"]) * 1024
    if (match := _FREE.match(line)) and any(_FREE_HEADER.match(other) for _, other in _above(numbered, number)):
        unit = match["unit"] or _bare_unit(match["total"])
        return int(float(match["total"]) * parse_size(f"1{unit}"))
    for pattern in _PRINTED:
        if match := pattern.match(line):
            return int(float(match["size"]) * parse_size(f"1{match['unit'] or 'B'}"))
    return None


def _printed_store(line: str) -> tuple[str, str, str] | None:
    """Return the file system, its compression and its place that a line shows or sets, or None for other lines."""
    if match := _ZFS_GET.match(line):
        return "zfs", match["value"], match["where"]
    if found := _compression_set(line):
        return "zfs", *found
    for pattern in (_MOUNT, *_MOUNTED):
        if match := pattern.search(line):
            return "btrfs", match["value"], match["where"]
    return None


def _compression_set(line: str) -> tuple[str, str] | None:
    """Return the compression that a `zfs set`, `zfs create` or `zpool create` in the line sets, and the dataset.

    None if the line does not set it.
    """
    match = _ZFS_SET.search(line)
    value, where, takes = "", "", False
    for word in match["words"].split() if match else ():
        if setting := _COMPRESSION.match(word):
            value = setting["value"]
        elif not takes and not word.startswith("-") and "=" not in word and not where:
            where = word.strip(".,:)\"'")
        takes = word in _TAKE_A_WORD
    return (value, where) if value and where else None


def _said(line: str) -> Iterator[int]:
    """Yield the amounts of RAM that a sentence gives, unless words near it show that it is not the machine's RAM."""
    for pattern in _SAID:
        for match in pattern.finditer(line):
            around = line[max(0, match.start() - _NEAR) : match.start()] + line[match.end() : match.end() + _NEAR]
            if not _NOT_THE_RAM.search(around):
                found = match.groupdict()
                times = int(found.get("count") or found.get("times") or 1)
                yield round(times * float(found["size"]) * parse_size(f"1{found['unit'].upper()}"))


def _dirty_limits(line: str) -> Iterator[int]:
    """Yield the limits on dirty data, in bytes, that the line sets or states. 0 means unlimited and is left out."""
    for match in _DIRTY_BYTES.finditer(line):
        yield from filter(None, [int(match["after"] or match["before"])])
    for match in _DIRTY_SAID.finditer(line):
        yield round(float(match["size"]) * parse_size(f"1{match['unit'].upper()}"))


def _above(numbered: tuple[tuple[int, str], ...], number: int) -> Iterator[tuple[int, str]]:
    return (line for line in numbered if number - 2 <= line[0] < number)


def _bare_unit(total: str) -> str:
    """Return the unit of a number that `free` printed without a unit, inferred from its magnitude.

    `free` prints KiB by default, MiB with -m, and GiB with -g. A number of at least 1,000,000 is in KiB, one of at
    least 500 in MiB, and any other in GiB.
    """
    return "K" if float(total) >= 1_000_000 else "M" if float(total) >= 500 else "G"


def for_load(machine: QuotedMachine, load: Load, *, is_on_device: bool) -> QuotedMachine:
    """Return the facts that apply to a load.

    The file system applies if one of the load's paths is below the mount point, or contains the name of the dataset or
    its pool. A program other than fio that shows no path is assumed to use the file system described in the text. The
    same applies to NFS version 3.
    """
    paths = [extent.file for part in load.parts for extent in part.extents if extent.file.startswith("/")]
    names = {machine.where.rpartition("/")[2], machine.where.partition("/")[0]} - {""}
    is_below = any(
        path.startswith(f"{machine.where}/") if machine.where.startswith("/") else names & set(path.split("/"))
        for path in paths
        if not path.startswith("/dev/")
    )
    is_unnamed = not paths and load.generator != DEFAULT_GENERATOR and not is_on_device
    on_nfs3 = [any(path.startswith(f"{mount}/") for mount in machine.nfs3_mounts) for path in paths]
    if not (all(on_nfs3) if paths else is_unnamed):
        machine = replace(machine, nfs3_mounts=())
    if is_below or is_unnamed:
        return machine
    return replace(machine, file_system=None, compression=None, compression_words="")


def with_machine(target: Target | None, machine: QuotedMachine) -> Target | None:
    """Return the target with the quoted facts added, or None if nothing is known.

    The user's options take precedence.
    """
    facts = (machine.ram_bytes, machine.compression, machine.dirty_limit_bytes)
    if facts == (None, None, None) and not machine.nfs3_mounts:
        return target
    found = target or Target(file_system="")
    if machine.nfs3_mounts and not found.file_system and machine.compression is None:
        found = replace(found, file_system=_NFS)
    if machine.compression is not None and not found.file_system:
        zfs = ZfsFacts() if machine.file_system == "zfs" else None
        compression = None if machine.compression == _OFF else machine.compression
        found = replace(found, file_system=machine.file_system or "", zfs=zfs, compression=compression)
    return replace(
        found,
        ram_bytes=found.ram_bytes or machine.ram_bytes,
        dirty_limit_bytes=found.dirty_limit_bytes or machine.dirty_limit_bytes,
    )


def known_of(context: Context, machine: QuotedMachine) -> Iterator[str]:
    """Yield, as text, each quoted fact for which the user gave no option."""
    if machine.ram_words and context.ram_bytes is None:
        yield machine.ram_words
    if machine.dirty_limit_words:
        yield machine.dirty_limit_words
    if machine.compression_words and context.file_system is None:
        yield machine.compression_words
    elif machine.nfs3_mounts and context.file_system is None:
        yield f"NFS version 3 is mounted on {' and '.join(machine.nfs3_mounts)}"
