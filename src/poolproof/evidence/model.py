"""The evidence of one trial, as frozen values. Bytes are bytes, rates are per second, times are seconds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LeafUse:
    """What one leaf disk did in the window of a trial.

    `write_bytes` are those completed when fio ended, `drained_write_bytes` those completed when everything that fio
    wrote had been flushed. `below_*` are the bytes of the disk that a loop file lives on, where there is one; None
    where nothing lies below. `latency_s` is the mean time of a request at the device; None where it did nothing.
    """

    device: str
    read_bytes: int
    write_bytes: int
    drained_write_bytes: int
    read_ios: int
    write_ios: int
    flush_ios: int
    utilisation: float
    latency_s: float | None
    below_device: str | None = None
    below_read_bytes: int | None = None
    below_drained_write_bytes: int | None = None


@dataclass(frozen=True)
class Account:
    """The byte account: F bytes that fio moved, D bytes that the leaf disks moved in the same window.

    `write_factor` is P, the bytes the layout writes to its leaves for each byte of data (mirror of n: n). `idle_*` is
    the rate of the leaves while fio was not running; the leaf figures are as counted, nothing is subtracted.
    """

    fio_read_bytes: int
    fio_write_bytes: int
    leaf_read_bytes: int
    leaf_write_bytes: int
    leaf_drained_write_bytes: int
    write_factor: float
    window_s: float
    drain_s: float
    idle_s: float = 0.0
    idle_read_bytes_per_s: float = 0.0
    idle_write_bytes_per_s: float = 0.0

    @property
    def read_ratio(self) -> float | None:
        """RR = D_r / F_r; None when fio read nothing."""
        return self.leaf_read_bytes / self.fio_read_bytes if self.fio_read_bytes else None

    @property
    def write_ratio(self) -> float | None:
        """WR = D_w / (F_w × P) once drained; None when fio wrote nothing."""
        expected = self.fio_write_bytes * self.write_factor
        return self.leaf_drained_write_bytes / expected if expected else None

    @property
    def write_ratio_at_end(self) -> float | None:
        """D_w / (F_w × P) at the moment fio ended: what had reached a disk when the figure was taken."""
        expected = self.fio_write_bytes * self.write_factor
        return self.leaf_write_bytes / expected if expected else None


@dataclass(frozen=True)
class TestFile:
    """One file that the job uses, as it stood before the trial. `resident_bytes`: its pages in RAM after cooling.

    `unwritten_bytes`: allocated but never written; `hole_bytes`: not allocated at all; both read as zeros from no disk.
    None: could not be told here.
    """

    path: str
    size_bytes: int
    hole_bytes: int | None = None
    unwritten_bytes: int | None = None
    resident_bytes: int | None = None


@dataclass(frozen=True)
class Target:
    """What the test files stand on, as the host tells it.

    `volatile`: RAM (tmpfs, ramfs, zram). `compression` is the property as set ("zstd:3", "lz4"), None for none.
    `loop_without_direct` names loop devices under the target that go through the page cache of the file below.
    `record_bytes` is the unit that a compressing or copy-on-write file system works in (ZFS recordsize, 128 KiB btrfs).
    """

    file_system: str
    ram_bytes: int | None = None
    volatile: bool = False
    compression: str | None = None
    record_bytes: int | None = None
    loop_without_direct: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """Everything that was counted for one trial."""

    account: Account | None
    leaves: tuple[LeafUse, ...] = ()
    files: tuple[TestFile, ...] = ()
    busy_with: tuple[str, ...] = ()
