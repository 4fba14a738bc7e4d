"""What stores the files of loop devices, where the counters of the loop devices do not reach."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BackingFiles:
    """The storage of the files of all loop devices that are leaf devices of a layout.

    `not_counted`: the disks whose counters are switched off (queue/iostats is 0).
    `served_by_program`: the names of the loop devices whose file is on a FUSE file system. Emulated disks are left out.
    `mount_options`: the options of the file systems on disks with a volatile write cache.
    `unflushed`: the disks with a volatile write cache to which the kernel sends no flushes (queue/write_cache).
    """

    not_counted: tuple[str, ...] = ()
    served_by_program: tuple[str, ...] = ()
    mount_options: tuple[str, ...] = ()
    unflushed: tuple[str, ...] = ()
