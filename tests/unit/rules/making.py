"""Builders for cases: job options as on a command line, and the bytes of the byte accounting."""

from poolproof.evidence.model import Account, Evidence, LeafUse
from poolproof.evidence.target_facts import Target
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import part_of
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Direction, Latency, Outcome, PartOutcome

KIB, MIB, GIB = 1024, 1024**2, 1024**3
MB = 1_000_000

EXT4 = Target("ext4", ram_bytes=8 * GIB)


def job(text: str, name: str = "job") -> LoadPart:
    """Return a job with options such as `rw=write bs=1m size=256m`.

    Options without a value are written as `name=1`.
    """
    return part_of(Job(name, dict(word.split("=", 1) for word in text.split())))


def jobs(*texts: str) -> Load:
    """Return a load with one job, or with several jobs that are named a, b, c and so on."""
    if len(texts) == 1:
        return Load((job(texts[0]),))
    return Load(tuple(job(text, name) for text, name in zip(texts, "abcdefgh", strict=False)))


def leaf(device: str = "vda", **figures: object) -> LeafUse:
    """Return the use of a disk, with 0 for everything that `figures` does not specify."""
    nothing: dict[str, object] = {
        "read_bytes": 0, "write_bytes": 0, "drained_write_bytes": 0, "read_ios": 0, "write_ios": 0, "flush_ios": 0,
        "utilisation": 0.0, "latency_s": None,
    }  # fmt: skip
    return LeafUse(device=device, **{**nothing, **figures})  # type: ignore[arg-type]


def account(
    read: tuple[float, float] = (0, 0),
    write: tuple[float, float, float] = (0, 0, 0),
    factor: float = 1.0,
    window_s: float = 2.0,
    **more: float,
) -> Account:
    """Return a byte accounting.

    `read`: the bytes read by fio and by the leaf devices.
    `write`: the bytes written by fio, by the leaf devices when fio ended, and by the leaf devices after the drain.
    """
    return Account(
        fio_read_bytes=int(read[0]), leaf_read_bytes=int(read[1]), fio_write_bytes=int(write[0]),
        leaf_write_bytes=int(write[1]), leaf_drained_write_bytes=int(write[2]), write_factor=factor,
        window_s=window_s, drain_s=0.1, **more,
    )  # fmt: skip


def counted(
    read: tuple[float, float] = (0, 0), write: tuple[float, float, float] = (0, 0, 0), factor: float = 1.0
) -> Evidence:
    """Return the evidence for one disk, with its byte accounting and its use in requests of 512 bytes."""
    disk = leaf(
        read_bytes=int(read[1]), write_bytes=int(write[1]), drained_write_bytes=int(write[2]),
        read_ios=int(read[1] // 512), write_ios=int(write[1] // 512),
    )  # fmt: skip
    return Evidence(account(read, write, factor), (disk,))


def direction(moved_bytes: float = 0, seconds: float = 2.0, bs: int = 4096, p50_ns: float | None = None,
              mean_ns: float | None = None, **more: object) -> Direction:  # fmt: skip
    """Return fio's results for reads or for writes. The rates are computed from bytes and seconds."""
    ios = int(moved_bytes // bs)
    percentiles = {50.0: p50_ns} if p50_ns is not None else {}
    latency = Latency(samples=ios, mean_ns=mean_ns, percentiles_ns=percentiles)
    figures: dict[str, object] = {
        "io_bytes": int(moved_bytes), "ios": ios, "runtime_ms": int(seconds * 1000),
        "bandwidth_bytes": moved_bytes / seconds, "iops": ios / seconds, "clat": latency, "lat": latency,
    }  # fmt: skip
    return Direction(**{**figures, **more})  # type: ignore[arg-type]


def said(read: Direction | None = None, write: Direction | None = None, name: str = "job", **more: object) -> Outcome:
    """Return the result of one job."""
    return Outcome("fio-3.33", (PartOutcome(name=name, read=read, write=write, **more),))  # type: ignore[arg-type]
