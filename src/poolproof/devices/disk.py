"""`disk: IDENTITY`: a real disk, identified by serial number, WWN or by-id name. The guard must permit its use."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from poolproof.campaign.emulation import emulated_model
from poolproof.campaign.error_location import located_at
from poolproof.campaign.model import Device, Disk
from poolproof.devices.guard import NotNamed, bare_identity, check_disk, check_named
from poolproof.devices.model import DevicePlan, Leaf, Site, Volume
from poolproof.devices.permission import claim_note
from poolproof.devices.site import require
from poolproof.errors import CampaignError, UsageError
from poolproof.facts.block import BlockFacts
from poolproof.hosts.base import Host
from poolproof.records import RECORDS
from poolproof.steps import Step
from poolproof.undos import Check, CommandUndo, Compared, DevicePath, Holds, Owned, OwnFile, Removal

_BY_ID = "/dev/disk/by-id/"
_KERNEL_NAME = re.compile(r"(/dev/)?((sd|hd|vd|xvd)[a-z]+\d*|(nvme\d+n|mmcblk|loop|ram|zram|md|dm-|sr|nbd)\d+(p\d+)?)")
_PART = re.compile(r".*-part\d+")
_VIRTUAL = re.compile(r"(dm|md)-(name|uuid)-.*")
# printf prints labels and serial numbers, because dash's echo interprets backslashes: `\c` would end its output.
_FIELD = """
set -f
disk=$1
field() { set -- $(lsblk --nodeps --noheadings --bytes --output "$1" "$disk"); printf '%s\\n' "$*"; }
"""
_IS_IT = (
    _FIELD
    + """
is() { [ -z "$2" ] && return; found=$(field "$1"); [ -z "$found" ] || [ "$found" = "$2" ]; }
if ! { [ "$(field SIZE)" = "$2" ] && is MAJ:MIN "$3" && is SERIAL "$4" && is WWN "$5"; }
then echo "$disk is not the disk that the campaign names ($0), so nothing is written to it" >&2; exit 1
fi
"""
)
_IS_SAME = (
    _IS_IT
    + """
now=$(field MAJ:MIN)
[ "$now" = "$6" ] || {
  echo "$disk now leads to the device $now, but $6 was checked, so nothing is written to it" >&2; exit 1
}
read -r sequence 2>/dev/null <"/sys/dev/block/$now/diskseq"
[ -z "$7" ] || [ "$sequence" = "$7" ] || {
  echo "$disk was replaced after it was checked (diskseq $sequence instead of $7), so nothing is written to it" >&2
  exit 1
}
"""
)
# Prints how much was written to and discarded on a disk since it was attached.
_WRITTEN = """
written() { set -- $(cat "/sys/dev/block/$(field MAJ:MIN)/stat"); echo "$5 $7 ${12} ${14}"; }
"""
_WAS_WRITTEN = (
    _FIELD
    + RECORDS
    + _WRITTEN
    + """
left=$(read_record left "$2") && [ "$left" != "$(written)" ]
"""
)
_CLAIM = (
    _IS_SAME
    + RECORDS
    + _WRITTEN
    + """
left=$(read_record left "$8") && [ "$left" != "$(written)" ] && {
  echo "someone has written to $disk since this run released it, so it may contain someone's data" >&2
  exit 1
}
content=$(wipefs --no-act --noheadings --output TYPE "$disk") || exit 1
[ -z "$content" ] || { echo "$disk is no longer empty: it contains" $content >&2; exit 1; }
printf '%s\\n' "$0" "$(boot_id)" >"$8" || exit 1
keep_record claim "$8" "$0" "$disk" || {
  rm -f -- "$8"
  echo "the claim of $disk cannot be recorded in /run, and without a record it could not be emptied after the run;" \\
    "nothing is written to it" >&2
  exit 1
}
"""
)
# Prints the signatures on the disk and its partitions that are not from the run with the label $mine. Layers put the
# label into each label, name and UUID that they can choose. A pool on a whole disk creates a partition table. Cache and
# spare devices of a pool name neither the pool nor its run, but they contain no data of their own. wipefs may not
# recognize them either, so a partition with a name that zpool gives (zfs-…) counts as part of a pool.
_FOREIGN = r"""
foreign() {
  found=$(
    lsblk --noheadings --list --paths --output NAME,TYPE "$disk" | while read -r part kind; do
      case $(blkid --probe --output value --match-tag PART_ENTRY_NAME "$part") in zfs-*) echo - zfs_member ;; esac
      case $kind in disk|part|loop) ;; *) continue ;; esac
      signatures=$(wipefs --no-act --noheadings --output TYPE,LABEL "$part") || exit
      uuid=$(blkid --probe --output value --match-tag UUID "$part")
      printf '%s\n' "$signatures" | while read -r type label; do
        [ -z "$type" ] || printf '%s\n' "${uuid:--} $type $label"
      done
    done
  ) || return
  printf '%s\n' "$found" | while read -r uuid type label; do
    case $type:$label in
      *:"$mine"|*poolproof-"$mine"-*|:*) ;;
      zfs_member:) ;;
      crypto_LUKS:*|LVM2_member:*) case $uuid in "$mine"-*|"${mine%??}-${mine#??????}"*) ;; *) echo "$type" ;; esac ;;
      gpt:*|dos:*|PMBR:*) case $found in *"$mine"*|*zfs_member*) ;; *) echo "$type" ;; esac ;;
      *) printf '%s\n' "$type${label:+ $label}" ;;
    esac
  done | sort -u | paste -sd ,
}
"""
# The script's arguments are the fields of an `UndoClaim`, in the same order. The first argument is $0.
_WIPE_AND_FORGET = (
    """
[ -e "$1" ] || { echo "the disk $1 was not found; connect it or, if it is gone for good: rm $6" >&2; exit 1; }
"""
    + _FOREIGN
    + _IS_IT
    + RECORDS
    + _WRITTEN
    + """
claimed=$(read_record claim "$6")
is_recorded() { [ "$claimed" = "$(printf '%s\\n' "$0" "$disk")" ]; }
forget() {
  ! is_recorded || { keep_record left "$6" "$(written)"; forget_record claim "$6"; }
  rm -- "$6"
}
[ -O "$6" ] && [ ! -L "$6" ] || { echo "$6 was not written by this user, so $disk is not wiped" >&2; exit 1; }
content=$(wipefs --no-act "$disk") || exit 1
[ -n "$content" ] || { forget "$@"; exit; }
[ "$(sed -n 2p "$6")" = "$(boot_id)" ] || {
  echo "the machine was rebooted after poolproof claimed $disk, so the data on it may be yours;" \\
    "if the data can be deleted: wipefs --all $disk" >&2
  exit 1
}
is_recorded || {
  echo "$disk is not empty, and this machine has no record that a run claimed it;" \\
    "if the data can be deleted: wipefs --all $disk" >&2
  exit 1
}
mine=$7
[ -n "$mine" ] || {
  echo "$disk is not empty, and the journal does not show what an older version of poolproof wrote to it;" \\
    "if the data can be deleted: wipefs --all $disk" >&2
  exit 1
}
others=$(foreign) || exit 1
[ -z "$others" ] || {
  printf '%s contains %s, which this run did not make; if the data can be deleted: wipefs --all %s\\n' \\
    "$disk" "$others" "$disk" >&2
  exit 1
}
wipefs --all "$disk" && forget "$@"
"""
)
_NUMBER = re.compile(r"(\d+:\d+)?", re.ASCII)

_LIMIT_S = 20.0

PROGRAMS = ("wipefs",)


def _no_size(size_bytes: int, _owned: Owned) -> Iterator[str]:
    if size_bytes <= 0:
        yield "the disk has no size"


def _not_own_label(label: str, owned: Owned) -> Iterator[str]:
    if label not in ("", owned.label):
        yield f"{label[:200]!r} is not this run's label"


def _not_a_number(number: str, _owned: Owned) -> Iterator[str]:
    if not _NUMBER.fullmatch(number):
        yield f"{number!r} is not a device number"


class UndoClaim(CommandUndo, frozen=True, tag="claim"):
    """Erase the signatures on a real disk that the run has claimed, if it is still the same disk.

    The file `note` must still name the disk. The disk at `path` must still have the recorded size, `number`
    (major:minor; empty for a disk with a by-id name), serial number and WWN. Nothing is erased if the machine was
    rebooted after the claim or has no record of it (`records.py`), or if the disk contains a file system, pool or array
    without the run's `label`. The UUIDs of LVM and LUKS signatures begin with this label. Journals of older versions
    have no label, so their disks are erased only if they are empty.
    """

    identity: Compared
    path: DevicePath
    size_bytes: Annotated[int, Check(_no_size)]
    number: Annotated[str, Check(_not_a_number)]
    serial: Compared
    wwn: Compared
    note: OwnFile
    label: Annotated[str, Check(_not_own_label)] = ""

    @property
    def summary(self) -> str:
        return f"erase the signatures on {self.path}, if they are from this run (wipefs --all)"

    def removal(self) -> Removal:
        """Return a script that erases the disk's signatures. It runs only if the note still names the disk.

        The script first checks that it is still the same disk.
        """
        disk = (self.identity, self.path, str(self.size_bytes), self.number, self.serial, self.wwn)
        return Removal(
            ("sh", "-c", _WIPE_AND_FORGET, *disk, self.note, self.label), Holds(self.note, self.identity), timeout_s=5
        )


def check_identity(name: str, identity: str, disks: Sequence[BlockFacts] = ()) -> None:
    """Raise a CampaignError if the identity cannot belong to a whole disk, no matter which disks the host has.

    `name`: the disk's name in the campaign.
    `disks`: the host's disks, for the hint.
    """
    bare = identity.removeprefix(_BY_ID)
    if _KERNEL_NAME.fullmatch(bare) or bare.startswith("/"):
        raise _path_refused(name, bare, disks)
    kind = "a partition" if _PART.fullmatch(bare) else "a mapping or an array" if _VIRTUAL.fullmatch(bare) else ""
    if kind:
        raise CampaignError(
            f"device {name}: {bare} is the name of {kind}, not of a whole disk",
            "use the by-id name, serial number or WWN of a whole disk; to list them: poolproof devices",
        )


def find_disk(name: str, identity: str, disks: Sequence[BlockFacts]) -> BlockFacts:
    """Return the disk that has the given identity.

    `name`: the disk's name in the campaign.
    `identity`: a by-id name, serial number or WWN.

    Raises a CampaignError as `check_identity` does, and if the identity matches no disk or more than one.
    """
    check_identity(name, identity, disks)
    bare = identity.removeprefix(_BY_ID)
    found = [disk for disk in disks if bare_identity(identity) in {text.lower() for text in disk.identities}]
    if not found:
        raise _not_found(name, bare, disks)
    if len(found) > 1:
        paths = ", ".join(disk.path for disk in found)
        raise CampaignError(f"device {name}: {bare} matches several disks: {paths}", "use the by-id name instead")
    return found[0]


def check_disks(devices: Sequence[Device], disks: Sequence[BlockFacts], permitted: frozenset[str]) -> None:
    """Check that all real disks among the devices may be overwritten, before each layout is planned.

    Raises the same errors as `find_disk` and `check_disk`. If only `--wipe` is missing, the error names all disks that
    it must name.
    """
    not_named: list[NotNamed] = []
    for device in devices:
        if isinstance(device.source, Disk):
            with located_at(device.origin):
                disk = find_disk(device.name, device.source.identity, disks)
                try:
                    check_disk(disk, permitted, disks=disks)
                except NotNamed as refused:
                    not_named.append(refused)
    check_named(not_named)


def check_wiped(wipe: Iterable[str], devices: Sequence[Device], disks: Sequence[BlockFacts]) -> None:
    """Raise a UsageError if `--wipe` names a disk that the campaign does not use, for example because of a typo.

    Names that contain a colon are not checked: they may be disks of other hosts (`nas2:V1G0DDDD`).
    """
    identities = [device.source.identity for device in devices if isinstance(device.source, Disk)]
    used = {bare_identity(identity) for identity in identities}
    for disk in disks:
        names = {bare_identity(name) for name in disk.identities}
        used |= names if used & names else set()
    for name in wipe:
        if ":" not in name and bare_identity(name) not in used:
            raise UsageError(
                f"--wipe {name}: the campaign does not use this disk",
                f"the campaign uses {', '.join(dict.fromkeys(identities))}; correct the name, or remove --wipe {name}",
            )


def was_written(disk: BlockFacts, note: str, host: Host) -> bool:
    """True if someone has written to the disk since the run released it, according to the host's record.

    `note`: the file that showed that the run had claimed the disk (`permission.claim_note`).
    """
    argv = ("sh", "-c", _WAS_WRITTEN, disk.identity, disk.stable_path, note)
    return host.run(argv, timeout_s=_LIMIT_S, check=False).returncode == 0


def plan(
    device: Device, source: Disk, site: Site, disks: Sequence[BlockFacts], permitted: frozenset[str]
) -> DevicePlan:
    """Plan how to use a real disk, without writing to it. The undo erases the signatures that layers write later.

    `disks`: recent output of `facts.block.block_devices`.

    Raises the same errors as `find_disk`, `require` and `check_disk`.
    """
    disk = find_disk(device.name, source.identity, disks)
    require(site, f"{device.name} (the disk {disk.identity})", *PROGRAMS)
    check_disk(disk, permitted, disks=disks)
    leaf = Leaf(device.name, disk.stable_path, disk.counter, model=emulated_model(source))
    volume = Volume(disk.stable_path, True, (leaf,), disk.size_bytes)
    return DevicePlan((_claim(device.name, disk, site),), volume, _script(_IS_SAME, disk))


def _claim(name: str, disk: BlockFacts, site: Site) -> Step:
    """Return the step that claims a disk. It checks that the disk is the right one and empty, then writes a note file.

    While the note exists, the undo erases the signatures that the run wrote to the disk (`UndoClaim`). After a reboot,
    it refuses to do so, because the disk may contain someone else's data by then.

    When the run has released a disk, it may claim the disk again for another layout, or after `resume`. If someone has
    written to the disk in the meantime, the step fails, because the disk may contain data without a signature.

    The disk's path is its by-id name, if it has one, because kernel names can change. Before each command that writes
    to the disk or mounts it, the size, serial number, WWN, device number and `diskseq` are checked again. The undo may
    run after a reboot. It therefore accepts a different device number, but only if the disk has a by-id name.
    """
    note = claim_note(site.state_dir, name)
    return Step(
        title=f"claim the disk {disk.identity} as {name}",
        argv=(*_script(_CLAIM, disk), note),
        undo=UndoClaim(disk.identity, disk.stable_path, disk.size_bytes, *_marks(disk), note, site.label),
    )


def _script(text: str, disk: BlockFacts) -> tuple[str, ...]:
    """Return the command that runs this shell script for the disk."""
    size = str(disk.size_bytes)
    return ("sh", "-c", text, disk.identity, disk.stable_path, size, *_marks(disk), disk.number, disk.sequence)


def _marks(disk: BlockFacts) -> tuple[str, str, str]:
    """Return the disk's device number, serial number and WWN. The number is left empty if the disk has a by-id name."""
    serial, wwn = (" ".join(text.split()) for text in (disk.serial, disk.wwn))
    return ("" if disk.by_id else disk.number, serial, wwn)


def _path_refused(name: str, bare: str, disks: Sequence[BlockFacts]) -> CampaignError:
    if _KERNEL_NAME.fullmatch(bare):
        message = f"device {name}: {bare} is a kernel name, which may refer to a different disk after a reboot"
    else:
        message = f"device {name}: {bare} is a path outside {_BY_ID}, which may later refer to a different disk"
    base = bare.rpartition("/")[2]
    disk = next((disk for disk in disks if base in {part.name for part in disk.tree()}), None)
    if disk is None or not disk.identity:
        return CampaignError(message, "use a by-id name, serial number or WWN; to list them: poolproof devices")
    return CampaignError(message, f"write {name}: {{disk: {disk.identity}}}")


def _not_found(name: str, bare: str, disks: Sequence[BlockFacts]) -> CampaignError:
    known = [identity for disk in disks if disk.kind == "disk" for identity in disk.identities]
    near = difflib.get_close_matches(bare, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return CampaignError(
        f"device {name}: no disk has the by-id name, serial number or WWN {bare}",
        f"{hint}to list all disks: poolproof devices",
    )
