"""Blocks on raidz that are too small to be stored efficiently."""

from poolproof.rules.model import Case, Findings, Rule, notes, zfs_source
from poolproof.units import format_number, format_size

_SECTOR = 4096


def _in_job(case: Case) -> Findings:
    zfs, record = case.zfs, case.target.record_bytes if case.target else None
    if zfs is None or not zfs.raidz_parity or not record or not case.load.writes or case.target is None:
        return
    sector = case.target.alignment_bytes or _SECTOR
    data = -(-record // sector)
    if data > 2 * zfs.raidz_parity:
        return
    # vdev_raidz_asize: parity for each row, padded to a multiple of parity + 1 sectors
    used = -(-(data + zfs.raidz_parity) // (zfs.raidz_parity + 1)) * (zfs.raidz_parity + 1)
    yield notes(
        f"a block of {format_size(record)} takes up {format_size(used * sector)} on this raidz{zfs.raidz_parity}: each "
        f"block has at most {data} {'sector' if data == 1 else 'sectors'} of data and needs its own parity and "
        f"padding, so the disks write about {format_number(used / data)} times as many bytes as the data has",
        weight=45,
    )


RULE = Rule(
    title="Small blocks on raidz",
    wrong="raidz stores parity for each block, and pads each block to a multiple of parity + 1 sectors. For a block of "
    "one or two sectors, parity and padding take up at least as much space as the data. Such a block needs as much "
    "space and as many writes as on a mirror, but raidz does not have the IOPS of a mirror.",
    shows="Before the run: writes to raidz with a recordsize or volblocksize of at most 2 × parity sectors.",
    error="Too low, compared with larger blocks on the same disks.",
    fix="use a volblocksize or recordsize of at least 16k, or mirrors for small blocks",
    sources=(
        zfs_source("2.3.0", "module/zfs/vdev_raidz.c", "vdev_raidz_asize"),
        "man zpoolconcepts (raidz)",
    ),
    in_job=_in_job,
    options=("bs", "filename", "directory"),
    cleared_by_byte_count=False,
    needs="Run this on a zvol with volblocksize=8k on raidz2.",
    commands="fio --rw=randwrite --bs=8k --size=256m --io_size=64m --fdatasync=1",
)
