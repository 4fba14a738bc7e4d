"""Linux software RAID: `md raid1 nvme1 ssd1 bitmap=none`, `md raid10 a b c d layout=f2 chunk=256k`.

The first word is the RAID level, as for mdadm. Options have the long names that `mdadm --create` uses, and its flags
are bare words. As on mdadm's command line, `write-mostly` applies to the devices that follow it. poolproof waits until
a new array is in sync, unless the layout has `assume-clean`. To drop caches, the array is also stopped and reassembled,
because raid4, raid5 and raid6 cache stripes in RAM.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from poolproof.campaign.expression import Option, Word
from poolproof.devices.model import Site, Volume
from poolproof.errors import CommandError
from poolproof.evidence.target_facts import Target
from poolproof.facts.disk_state import MDSTAT_MEMBER
from poolproof.facts.machine import ProgramVersion
from poolproof.hosts.base import Host, text_of
from poolproof.layers import arguments
from poolproof.layers.arguments import Vocabulary, bytes_with_unit, words
from poolproof.layers.base import (
    Layer,
    LayerFault,
    LayerNode,
    LayerPlan,
    OpenLayer,
    StageReader,
    stored_by_size,
    survives,
)
from poolproof.layers.md_found import PARITY, ArrayReader, level_factor
from poolproof.layers.shared_steps import kernel_name, wipe
from poolproof.steps import Step, await_block
from poolproof.undos import COMMAND_LIMIT_S, Check, CommandUndo, DevicePath, Holds, Owned, Removal, not_own_name

_LEVELS: Mapping[str, str] = {
    **dict.fromkeys(("raid0", "0", "stripe"), "raid0"),
    **dict.fromkeys(("raid1", "1", "mirror"), "raid1"),
    **dict.fromkeys(("raid4", "4"), "raid4"),
    **dict.fromkeys(("raid5", "5"), "raid5"),
    **dict.fromkeys(("raid6", "6"), "raid6"),
    **dict.fromkeys(("raid10", "10"), "raid10"),
    "linear": "linear",
}
# mdadm also accepts two devices for raid4 and raid5, but the result is a mirror, which is hardly what the user wants
_FEWEST: Mapping[str, int] = {"linear": 2, "raid0": 2, "raid1": 2, "raid4": 3, "raid5": 3, "raid6": 4, "raid10": 2}
_WORDS = Vocabulary(
    "md",
    make_keys=words(
        "bitmap bitmap-chunk chunk consistency-policy data-offset layout metadata size spare-devices write-behind"
    ),
    open_keys=frozenset(),
    open_flags=words("assume-clean failfast write-mostly"),
)
_SIZES = words("bitmap-chunk chunk data-offset size")  # mdadm accepts K, M and G only in upper case
_CHECKED: Mapping[str, frozenset[str]] = {
    "bitmap": words("none internal clustered lockless"),
    "metadata": words("0.90 1.0 1.1 1.2 default"),
    "consistency-policy": words("resync bitmap journal ppl"),
}
_MODULES: Mapping[str, str] = {"linear": "linear", "raid4": "raid456", "raid5": "raid456", "raid6": "raid456"}
_SUPERBLOCK_BYTES = 128 * 1024**2
_LONGEST_NAME = 32  # in a version 1 superblock, md_p.h
_SLOWEST_SYNC_BYTES_PER_S = 5e6
_STOP = (
    'n=0; until output=$(mdadm --stop "$0" 2>&1); do n=$((n + 1)); '
    '[ "$n" -lt 50 ] || { echo "$output" >&2; exit 1; }; sleep 0.1; done; '
    'n=0; while test -e "$0"; do n=$((n + 1)); '
    '[ "$n" -lt 100 ] || { echo "$0 still exists" >&2; exit 1; }; sleep 0.1; done'
)
_IN_SYSFS = 'cd "/sys/block/$(basename "$(readlink -f "$0")")/md" && '
# A new array may be idle because its resync has not begun yet; resync_start shows when it has ended.
_AWAIT_SYNC = _IN_SYSFS + (
    'until read a <sync_action && [ "$a" = idle ] && read r <resync_start && [ "$r" = none ] && '
    'read d <degraded && [ "$d" = 0 ]; do sleep 1; done'
)
_LIMIT_S = 30.0
_MDSTAT_ARRAY = re.compile(r"^(md\w+) : ", re.MULTILINE)
_MDSTAT_ACTION = re.compile(r"\b(resync|recovery|check|reshape|repair)\s*=\s*([\d.]+%)")
_RAID10_LAYOUT = re.compile(r"[nfo]0*([2-9]|[1-9]\d+)")

T = TypeVar("T")


_STOP_ARRAY = """
uuid() { sed -n 's/^MD_UUID=//p'; }
array=$(mdadm --detail --export "$0" | uuid)
for member do
    if [ -n "$array" ] && [ "$(mdadm --examine --export "$member" 2>/dev/null | uuid)" = "$array" ]
    then set -- "$@" "$member"
    fi
    shift
done
mdadm --stop "$0" || exit 1
[ $# -eq 0 ] || mdadm --zero-superblock "$@"
"""
_NODES = "/dev/md/"


def _not_own_node(node: str, owned: Owned) -> Iterator[str]:
    yield from not_own_name(node.removeprefix(_NODES), owned)
    if not node.startswith(_NODES):
        yield f"{node} is not a node in /dev/md"


class UndoArray(CommandUndo, frozen=True, tag="array"):
    """Stop the md array `node`, and erase the superblocks of the `members` that belong to it."""

    node: Annotated[str, Check(_not_own_node)]
    members: tuple[DevicePath, ...]

    def removal(self) -> Removal:
        """Return a script that stops the array and erases its superblocks. It runs only if the array's node exists."""
        return Removal(("sh", "-c", _STOP_ARRAY, self.node, *self.members), Holds(self.node, ""), COMMAND_LIMIT_S)


@dataclass(frozen=True)
class Md:
    """The RAID level, the indices of the inputs that are write-mostly, the options with values, and the bare words."""

    level: str
    write_mostly: tuple[int, ...]
    options: tuple[tuple[str, str], ...]
    flags: tuple[str, ...]

    def value(self, key: str, default: str) -> str:
        return dict(self.options).get(key, default)

    @property
    def copies(self) -> int:
        """The number of copies that a raid10 keeps, taken from the digits in its layout (default: n2)."""
        return int(self.value("layout", "n2")[1:])

    @property
    def needs_sync(self) -> bool:
        """True if the array must be synced after it is created, as for every level except linear and raid0."""
        return self.level not in ("linear", "raid0")

    def active(self, inputs: Sequence[T]) -> Sequence[T]:
        """Return the inputs that are not spares. Spares come last."""
        return inputs[: max(0, len(inputs) - int(self.value("spare-devices", "0")))]


class MdLayer(ArrayReader, Layer[Md]):
    """An array of Linux software RAID."""

    word = "md"
    summary = "Linux software RAID on several devices: `md raid1 nvme1 ssd1 bitmap=none`"
    programs = ("mdadm",)
    packages = ("mdadm",)
    module_packages = ("linux-image-amd64",)
    version = ProgramVersion("mdadm", ("mdadm", "--version"))
    undos = (UndoArray,)
    offers_block = True
    smallest_device_bytes = 2 * 1024**2

    def read(self, reading: StageReader) -> LayerNode:
        first = arguments.first_word(reading, self.word, "level", _LEVELS, "md raid1 a b")
        if reading.below is not None:
            raise reading.mistake(first, "md joins several devices; list them after the level: md raid1 a b")
        rest = replace(reading, arguments=reading.arguments[1:])
        found = arguments.sort(rest, self.word, flags=_WORDS.open_flags)
        arguments.check_values(reading, found.rest, _CHECKED)
        chosen, count = arguments.choose(reading, found.rest, _WORDS, last_wins=True), len(found.inputs)
        write_mostly = tuple(range(found.marks.get("write-mostly", count), count))
        flags = tuple(flag for flag in chosen.open if flag != "write-mostly")
        spec = Md(_LEVELS[first.text], write_mostly, chosen.make, flags)
        _check(reading, first, spec, count)
        arguments.check_blocks(reading, found.inputs, self.word)
        return LayerNode(self, spec, found.nodes)

    def modules(self, spec: Md) -> tuple[str, ...]:
        return ("md_mod", _MODULES.get(spec.level, spec.level))

    def plan(self, spec: Md, inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        node = f"/dev/md/{kernel_name(site, name, longest=_LONGEST_NAME)}"
        members = [device.path for device in inputs]
        limit_s = 300 + max(device.size_bytes or 0 for device in inputs) / _SLOWEST_SYNC_BYTES_PER_S
        sync = Step(f"wait until {node} has synced its devices", ("sh", "-c", _AWAIT_SYNC, node), timeout_s=limit_s)
        synced = (sync,) if spec.needs_sync else ()
        assemble = ("mdadm", "--assemble", "--quiet", node, *members)
        return LayerPlan(
            make=(wipe(members), _create(spec, node, members), await_block(node), *synced),
            open=(Step(f"assemble {node}", assemble, await_file=node, unless=node),),
            close=(Step(f"stop {node}", ("sh", "-c", _STOP, node)),),  # and wait until its device node is gone
            volume=self.volume(spec, node, inputs),
        )

    def writes_everything(self, spec: Md) -> bool:
        """True if the new array is synced, which writes to the free space too."""
        return spec.needs_sync and "assume-clean" not in spec.flags

    def write_factor(self, spec: Md, inputs: Sequence[float]) -> float:
        """Return the write amplification, assuming full stripes for raid4 to raid6. Smaller writes cost more."""
        copies = spec.copies if spec.level == "raid10" else 1
        return level_factor(spec.level, copies, spec.active(inputs))

    def capacity_bytes(self, spec: Md, inputs: Sequence[int]) -> int:
        """Return the capacity in bytes.

        `size=` limits the space that is used on each device. Each device also loses space to the superblock, the bitmap
        and room for a reshape: 128 MiB, or 1% plus 1 MiB if that is less.
        """
        used = bytes_with_unit(spec.value("size", ""))
        usable = [max(0, size - min(_SUPERBLOCK_BYTES, size // 100 + 1024**2)) for size in spec.active(inputs)]
        usable = usable if used is None else [min(size, used) for size in usable]
        match spec.level:
            case "linear" | "raid0":
                return sum(usable)
            case "raid1":
                return min(usable)
            case "raid10":
                return min(usable) * len(usable) // spec.copies
        return min(usable) * (len(usable) - PARITY[spec.level])

    def redundancy(self, spec: Md, inputs: Sequence[int]) -> int:
        """Return the number of disks that may fail without data loss.

        Spares do not count, because they help only after a rebuild.
        """
        active = spec.active(inputs)
        copies = {"raid1": len(active), "raid10": spec.copies}.get(spec.level, 1)
        return survives(active, PARITY.get(spec.level, copies - 1))

    def stored(self, built: OpenLayer[Md], total_bytes: int) -> tuple[int, ...]:
        """Return the number of bytes that each device stores.

        With linear, the numbers are proportional to the device sizes. With all other levels, they are equal (see
        md(4)). Spares store 0 bytes.
        """
        if built.spec.level == "linear":
            return tuple(stored_by_size(built.inputs, total_bytes))
        count, active = len(built.inputs), len(built.spec.active(built.inputs))
        each = int(total_bytes * self.write_factor(built.spec, [1.0] * count) / active)
        return (*[each] * active, *[0] * (count - active))

    def busy_with(self, built: OpenLayer[Md]) -> str | None:
        node = built.volume.path
        action = _attribute(node, "sync_action", built.host) if built.spec.needs_sync else None
        word = "recovery" if action == "recover" else action
        return None if action in (None, "idle", "frozen") else f"a {word} of the md array {node}"

    def busy_on(self, disks: frozenset[str], host: Host) -> tuple[str, ...]:
        """Describe the background work that is in progress on md arrays.

        `disks`: the kernel names of the arrays to consider, or of their members.
        """
        working = parse_mdstat(text_of(host, "/proc/mdstat"))
        return tuple(f"a {work.action} of {work.array} ({work.done} done)" for work in working if work.devices & disks)

    def fault(self, built: OpenLayer[Md]) -> LayerFault | None:
        missing = _attribute(built.volume.path, "degraded", built.host) if built.spec.needs_sync else None
        if missing is None or not missing.isdecimal() or int(missing) == 0:
            return None
        return LayerFault(
            f"the array {built.volume.path} is degraded: it has lost {missing} of its disks",
            "find the disk with mdadm --detail and dmesg, replace it, and run the campaign again",
        )

    def describe(self, built: OpenLayer[Md], target: Target) -> Target:
        target = replace(target, has_parity=target.has_parity or built.spec.level in PARITY)
        if not built.spec.needs_sync:
            return target
        location = _attribute(built.volume.path, "bitmap/location", built.host)
        return replace(target, md_bitmap=None if location is None else location not in ("none", "file"))


def _create(spec: Md, node: str, members: Sequence[str]) -> Step:
    """Return the step that creates the array. With `--run`, mdadm does not ask for confirmation."""
    named = [f"--{key}={value.upper() if key in _SIZES else value}" for key, value in spec.options]
    first = min(spec.write_mostly, default=len(members))
    marked = ("--write-mostly", *members[first:]) if spec.write_mostly else ()
    return Step(
        f"create a {spec.level} of {', '.join(members)}",
        (
            *("mdadm", "--create", node, "--run", "--quiet", f"--level={spec.level}"),
            *(f"--raid-devices={len(spec.active(members))}", *named, *[f"--{flag}" for flag in spec.flags]),
            *(*members[:first], *marked),
        ),
        undo=UndoArray(node, tuple(members)),
        timeout_s=120,
        overwrites=tuple(members),
    )


def _check(reading: StageReader, level: Word, spec: Md, count: int) -> None:
    """Check spare-devices, a raid10 layout and the number of devices, and that only raid1 has write-mostly devices."""
    options = {option.key: option for option in reading.arguments if isinstance(option, Option)}
    if not re.fullmatch("[0-9]+", spec.value("spare-devices", "0")):
        raise reading.mistake(options["spare-devices"], "spare-devices must be a number")
    if spec.level == "raid10" and not _RAID10_LAYOUT.fullmatch(spec.value("layout", "n2")):
        raise reading.mistake(
            options["layout"], "a raid10 layout is n, f or o, followed by the number of copies: n2, f2, o3"
        )
    fewest = max(_FEWEST[spec.level], spec.copies if spec.level == "raid10" else 0)
    active = len(spec.active(range(count)))
    if active < fewest:
        raise reading.mistake(level, f"md {spec.level} needs at least {fewest} devices, found {active}")
    if spec.write_mostly and spec.level != "raid1":
        raise reading.mistake(level, "write-mostly works only with raid1")


def _attribute(node: str, name: str, host: Host) -> str | None:
    """Return an attribute of an array from sysfs, e.g. `sync_action` (idle, resync, check …), or None if unreadable."""
    try:
        completed = host.run(("sh", "-c", f"{_IN_SYSFS}cat {name}", node), timeout_s=_LIMIT_S, check=False)
    except CommandError:
        return None
    return completed.stdout.strip() or None


@dataclass(frozen=True)
class ArrayWork:
    """A background task of an md array: an action such as `resync`, and its progress such as `12.6%`."""

    array: str
    members: tuple[str, ...]
    action: str
    done: str

    @property
    def devices(self) -> frozenset[str]:
        return frozenset((self.array, *self.members))


def parse_mdstat(text: str) -> Iterator[ArrayWork]:
    """Yield each background task in the contents of /proc/mdstat."""
    parts = _MDSTAT_ARRAY.split(text)
    for name, rest in zip(parts[1::2], parts[2::2], strict=True):
        members = tuple(MDSTAT_MEMBER.findall(rest.partition("\n")[0]))
        for action, done in _MDSTAT_ACTION.findall(rest):
            yield ArrayWork(name, members, action, done)


LAYER = MdLayer()
