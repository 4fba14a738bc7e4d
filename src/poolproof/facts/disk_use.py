"""Uses of a disk that lsblk does not show: loop devices, programs that hold it open or mapped, and exclusive opens.

A disk without a mount or a signature can still be in use: a virtual machine may have it open, a loop device may use a
part of it, or a container may have mounted it. This module also detects partition tables that wipefs overlooks, for
example if only the copy at the end of the disk is left.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.errors import as_word
from poolproof.hosts.base import Host, lines_of, text_of

_LIMIT_S = 30.0
_USES_LIMIT_S = 90.0  # three searches that are killed after 20 s each
_FILES = r"""
PATH=$PATH:/sbin:/usr/sbin
for program in find timeout stat grep awk xargs sed; do
  command -v $program >/dev/null || echo "lacking $program"
done
case $(stat -L -c %i /proc/self/ns/pid 2>/dev/null) in '' | 4026531836) ;; *) echo contained ;; esac
of() { read -r path <"$2" && [ -b "$path" ] && echo "$1 $(stat -L -c %t:%T -- "$path") $3"; }
for file in /sys/block/loop*/loop/backing_file; do
  loop=${file#/sys/block/}; [ ! -r "$file" ] || of loop "$file" "/dev/${loop%%/*}"
done
if command -v python3 >/dev/null; then set -- "$@" python3 -I -c "$3"; else set -- "$@" perl -e "$4"; fi
config=/sys/kernel/config
for file in $config/nvmet/subsystems/*/namespaces/*/device_path $config/target/core/*/*/udev_path \
  $config/usb_gadget/*/functions/mass_storage.*/lun.*/file; do
  [ ! -r "$file" ] || of exported "$file" "$file"
done
same() { echo "same $(cat "$1") $(cat "$2")"; }
class=/sys/class
for node in $class/scsi_generic/* $class/bsg/*; do
  for disk in "$node"/device/block/*; do [ ! -r "$disk/dev" ] || same "$node/dev" "$disk/dev"; done
done
for node in $class/nvme-generic/ng*; do
  disk=$class/block/nvme${node##*/ng}; [ ! -r "$disk/dev" ] || same "$node/dev" "$disk/dev"
done
seen() { timeout -s KILL 20 "$@" 2>/dev/null; [ $? -ne 137 ] || echo unseen; }
seen sh -c "$1"
seen sh -c "$2"
shift 4
seen "$@"
exit 0
"""
# The number of the machine's own PID namespace is fixed (PROC_PID_INIT_INO in the kernel's proc_ns.h).
# The device node below a loop device may be in another namespace or removed, but the kernel still knows its number.
_LOOPS = """
import fcntl, glob, os, struct
for path in glob.glob('/sys/block/loop*/loop'):
    loop = '/dev/' + path.split('/')[3]
    try:
        device = os.open(loop, os.O_RDONLY)
        number = struct.unpack_from('QQQ', fcntl.ioctl(device, 0x4C05, bytes(256)))[2]
        os.close(device)
    except OSError: continue
    if number: print('loop %x:%x %s' % (os.major(number), os.minor(number), loop), flush=True)
"""
_LOOPS_IN_PERL = """
for (glob "/sys/block/loop*/loop") {
  my ($loop) = m{^/sys/block/([^/]+)};
  open(my $device, "<", "/dev/$loop") or next;
  my $status = "\\0" x 256;
  ioctl($device, 0x4C05, $status) or next;
  my $number = (unpack "QQQ", $status)[2] or next;
  printf "loop %x:%x /dev/$loop\\n", ($number >> 8) & 0xfff, ($number & 0xff) | (($number >> 12) & 0xfff00);
}
"""
# A virtual machine can have a disk open through its character device (/dev/sg0, /dev/bsg/…, /dev/ng0n1).
# A thread can have its own files, and those of a process whose first thread has ended are listed only under the others.
_OPEN = r"""
printf '%s\n' /proc/[0-9]*/task/[0-9]*/fd |
xargs sh -c 'find "$@" -maxdepth 1 -lname "/*" ! -lname /dev/null ! -lname "/dev/pts/*" \
  \( -xtype b -exec stat -L -c "open %t:%T %n" {} + -o -xtype c -exec stat -L -c "passed %t:%T %n" {} + \)' sh
exit 0
"""
# A mapping remains after its file descriptor has been closed. /proc/PID/maps does not contain the device number of a
# mapped device, so stat examines each mapped file. To save time, it examines a library only once for all processes.
# map_files also leads to device nodes that were removed or are in another jail, but only CAP_SYS_ADMIN may follow it.
# If the first thread of a process has ended (state Z), the mappings are listed only under the others.
_MAPS = r"""
own=$(sed -n '1s/^0*\([^-]*\)-0*\([^ ]*\) .*/\1-\2/p' /proc/$$/maps)
[ -e "/proc/$$/map_files/$own" ] && exact=1 || exact=0
{
  find /proc -maxdepth 2 -path '/proc/[0-9]*/maps' -exec grep -s -H ' /' {} +
  find /proc -maxdepth 2 -path '/proc/[0-9]*/status' -exec grep -s -l '^State:[[:space:]]*Z' {} + |
  while read -r status; do
    for thread in "${status%/status}"/task/[0-9]*; do echo "/proc/${thread##*/}/maps"; done
  done | xargs grep -s -H ' /' /dev/null
} |
awk -v exact=$exact '
  { split($1, at, "/"); range = at[4]; sub(/^maps:0*/, "", range); sub(/-0*/, "-", range)
    file = $0; sub(/^[^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ +/, "", file)
    shared = substr($2, 4, 1) == "s" ? at[3] : ""
    if ((shared, $4, $5, file) in seen) next
    seen[shared, $4, $5, file] = 1
    sub(/ \(deleted\)$/, "", file)
    path = "/proc/" at[3] (exact ? "/map_files/" range : "/root" file)
    gsub(/[^A-Za-z0-9\/]/, "\\\\&", path); print path }' |
xargs stat -L -c '%f mapped %t:%T %n' | sed -n 's/^6[0-9a-f][0-9a-f][0-9a-f] //p'
exit 0
"""
_EXCLUSIVE = r"""
if command -v python3 >/dev/null; then
  exec python3 -I -c 'import os, sys
try: os.close(os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL))
except OSError as e: sys.exit(16 if e.errno == 16 else 0)' "$1"
elif command -v perl >/dev/null; then
  exec perl -MFcntl -e 'sysopen(my $f, $ARGV[0], O_RDONLY | O_EXCL) or exit($! + 0 == 16 ? 16 : 0)' "$1"
fi
exit 17
"""
_GPT = r"""
size=$2
{ dd if="$1" bs=4096 count=2; dd if="$1" bs=4096 skip=$((size / 4096 - 8)) count=9; } 2>/dev/null |
  grep -a -q 'EFI PART' && echo gpt
exit 0
"""
_BUSY = 16  # EBUSY
_OPENED = re.compile(r"/proc/(\d+)/(task/\d+)/fd/(\d+)")
_MAPPED = re.compile(r"/proc/(\d+)/")
_WRITE_FLAGS = 0o3
_ONLY_LOOK = frozenset({"systemd-udevd", "(udev-worker)", "udevd", "multipathd", "smartd", "lsblk", "blkid", "wipefs"})
"""Programs that only monitor disks, or open every disk briefly. Overwriting a disk does not affect them."""


@dataclass(frozen=True)
class DiskUse:
    """A use of a disk, and what to do next.

    `what`: a phrase that follows the disk's name in a sentence.
    `hint`: usually a command to run.
    """

    what: str
    hint: str


_CLAIMED = DiskUse(
    "is in use: the kernel refuses to open it exclusively, for example because a container has mounted it",
    "to search all mounts: grep -l DEVICE /proc/*/mountinfo",
)
_UNTRIED = DiskUse(
    "may be in use; poolproof could not check this, because its host has neither Python nor Perl",
    "install python3 or perl on the host that has the disk",
)
_UNSEEN = DiskUse(
    "may be in use; poolproof could not check this, because it took more than 20 s to examine the files that programs "
    "have open or mapped",
    "a file system may hang; to find it, run stat -f on each mount point that this command lists: "
    "findmnt -t nfs,nfs4,cifs,fuse",
)

_CONTAINED = DiskUse(
    "may be in use; poolproof could not check this, because in a container it cannot see all programs of the machine",
    "run poolproof outside of the container, or let the container see them (docker run --pid=host)",
)


def disk_uses(host: Host, numbers: Sequence[str]) -> Mapping[str, tuple[DiskUse, ...]]:
    """Return the uses of each block device: loop devices on it, and programs that have it open or mapped.

    A program in a container or jail may have opened the device by a node outside /dev, so its number decides. It may
    also have opened the character device through which it sends SCSI or NVMe commands to the disk.

    `numbers`: device numbers such as `8:16`, which are also the keys of the result.

    Without root, only the user's own programs are found. Raises a CommandError if the host does not respond.
    """
    listed = host.run(
        ["sh", "-c", _FILES, "sh", _OPEN, _MAPS, _LOOPS, _LOOPS_IN_PERL], timeout_s=_USES_LIMIT_S, check=False
    ).stdout
    found: dict[str, list[DiskUse]] = {number: [] for number in numbers}
    if lacking := re.search("^lacking (.+)$", listed, re.MULTILINE):
        return dict.fromkeys(numbers, (_lacking(lacking[1]),))
    if "unseen" in lines_of(listed):
        return dict.fromkeys(numbers, (_UNSEEN,))
    if "contained" in lines_of(listed):
        return dict.fromkeys(numbers, (_CONTAINED,))
    disk_of: dict[str, str] = {}
    for line in lines_of(listed):
        kind, _, rest = line.partition(" ")
        number, _, name = rest.partition(" ")
        if kind == "same":
            disk_of[number] = name
            continue
        uses = found.get(disk_of.get(_decimal(number), "") if kind == "passed" else _decimal(number))
        if uses is None:
            continue
        if kind == "loop":
            uses.append(DiskUse(f"backs the loop device {name}", f"losetup --detach {name}"))
        elif kind == "exported":
            uses.append(DiskUse("is exported by the kernel to other machines", f"cat {as_word(name)}"))
        elif opened := _OPENED.match(name):
            uses.extend(_opener(host, *opened.groups()))
        elif mapped := _MAPPED.match(name):
            uses.extend(_mapper(host, mapped[1]))
    return {number: tuple(dict.fromkeys(uses)) for number, uses in found.items()}


def exclusive_use(host: Host, path: str) -> DiskUse | None:
    """Return a use if the kernel refuses to open the block device exclusively because it is busy, otherwise None.

    The kernel refuses if a file system (in any mount namespace), swap, md or device mapper uses the device. If the host
    has neither Python nor Perl for this test, the device counts as used. Raises a CommandError if the host does not
    respond.
    """
    code = _open_exclusively(host, path)
    return None if code == 0 else _CLAIMED if code == _BUSY else _UNTRIED


def is_busy(host: Host, path: str) -> bool:
    """True if the kernel refuses to open the block device exclusively because it is busy.

    False if the host has neither Python nor Perl for this test. Raises a CommandError if the host does not respond.
    """
    return _open_exclusively(host, path) == _BUSY


def _open_exclusively(host: Host, path: str) -> int:
    return host.run(["sh", "-c", _EXCLUSIVE, "sh", path], timeout_s=_LIMIT_S, check=False).returncode


def has_hidden_gpt(host: Host, path: str, size_bytes: int) -> bool:
    """True if the disk has a GUID partition table at its start or end.

    wipefs overlooks some of these tables, because it requires the protective MBR. If the start of the disk was
    overwritten, only the copy at the end is left.
    """
    argv = ["sh", "-c", _GPT, "sh", path, str(size_bytes)]
    return bool(host.run(argv, timeout_s=_LIMIT_S, check=False).stdout.strip())


def diskseq(host: Host, name: str) -> str:
    """Return the kernel's sequence number for this disk or medium, or "" before Linux 5.15.

    No other disk gets this number until the next boot, even if it gets the same name.
    """
    return text_of(host, f"/sys/class/block/{name}/diskseq").strip()


def _opener(host: Host, process: str, thread: str, file: str) -> Iterator[DiskUse]:
    """Yield the use of a disk by a process that has it open in one of its threads.

    Programs that only monitor disks are skipped, unless they have opened the disk for writing.
    """
    name = text_of(host, f"/proc/{process}/comm").strip()
    flags = re.search(r"^flags:\s*([0-7]+)", text_of(host, f"/proc/{process}/{thread}/fdinfo/{file}"), re.MULTILINE)
    writes = flags is not None and int(flags[1], 8) & _WRITE_FLAGS
    if flags is not None and (writes or name not in _ONLY_LOOK):
        yield DiskUse(f"is held open by {_process(name, process)}", f"ps -fp {process}")


def _mapper(host: Host, process: str) -> Iterator[DiskUse]:
    """Yield the use of a disk by a process that has mapped it into memory, unless the process has ended."""
    if name := text_of(host, f"/proc/{process}/comm").strip():
        yield DiskUse(f"is mapped into memory by {_process(name, process)}", f"ps -fp {process}")


def _lacking(program: str) -> DiskUse:
    what = f"may be in use; poolproof could not check this, because its host does not have the program {program}"
    return DiskUse(what, f"install {program} on the host that has the disk")


def _process(name: str, process: str) -> str:
    machine = "a virtual machine, " if name.startswith(("qemu", "kvm", "cloud-hyperv", "firecracker")) else ""
    return f"{name} ({machine}process {process})"


def _decimal(number: str) -> str:
    """Convert a device number from hexadecimal, as printed by stat, to decimal: `8:10` becomes `8:16`.

    Return an empty string if `number` is not a device number.
    """
    major, _, minor = number.partition(":")
    try:
        return f"{int(major, 16)}:{int(minor, 16)}"
    except ValueError:
        return ""
