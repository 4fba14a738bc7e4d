"""Pitfalls that can be found before a job runs.

For each, there is a job with the pitfall and a similar job without it.
"""

import time
from dataclasses import dataclass, replace

import pytest

from poolproof.evidence import model
from poolproof.evidence.model import Evidence
from poolproof.evidence.target_facts import Target
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.job_groups import Targets
from tests.unit.foreign.lint.making import KnownTarget, flags, job, rules, said, source

_GIB = 1024**3
_EXT4 = KnownTarget(Target("ext4", ram_bytes=8 * _GIB))
_BTRFS = flags(fs="btrfs", compression="zstd:3")
_ZFS = {"fs": "zfs-2.2", "ram": "64G", "recordsize": "128k"}


@dataclass(frozen=True)
class Trap:
    """A pitfall, with a job that has it and a similar job that does not.

    `options`: the options of the job that breaks the rule.
    `near`: options that do not break the rule, and differ only in what matters.
    `on`, `near_on`: the targets of the two jobs.
    """

    rule: str
    options: str
    near: str
    line: int
    on: Targets | None = None
    near_on: Targets | None = None


def _file(**empty: int) -> KnownTarget:
    return replace(_EXT4, known=Evidence(None, files=(model.TestFile("f", _GIB, **{"hole_bytes": 0, **empty}),)))


_READ = "rw=randread bs=4k size=1g"
_TRAPS = (
    Trap("shared-file-numjobs", "rw=write filename=f size=1g numjobs=4 end_fsync=1",
         "rw=write filename=f size=256m numjobs=4 end_fsync=1 offset_increment=256m", 5),
    Trap("write-without-sync", "rw=write bs=1m size=1g", "rw=write bs=1m size=1g end_fsync=1", 2),
    Trap("size-below-cache", _READ, "rw=randread bs=4k size=16g", 4, _EXT4),
    Trap("size-below-cache", _READ, f"{_READ} direct=1", 4, _EXT4),
    Trap("runtime-without-time-based", "rw=read bs=1m size=1g runtime=30", "rw=read bs=1m size=1g runtime=30 "
         "time_based", 5),
    Trap("zfs-direct-ignored", f"{_READ} direct=1", f"{_READ} direct=1", 5, flags(**_ZFS), flags(fs="zfs-2.3")),
    Trap("zfs-direct-ignored", f"{_READ} direct=1", _READ, 5, flags(fs="zvol-2.4")),
    Trap("zfs-direct-ignored", "rw=randwrite bs=4k size=1g direct=1 end_fsync=1",
         "rw=randwrite bs=128k size=1g direct=1 end_fsync=1", 5, flags(fs="zfs-2.3", recordsize="128k")),
    Trap("iodepth-with-sync-engine", f"{_READ} iodepth=32", f"{_READ} iodepth=32 ioengine=io_uring", 5),
    Trap("iodepth-with-sync-engine", f"{_READ} iodepth=8 ioengine=psync",
         f"{_READ} iodepth=8 ioengine=psync io_submit_mode=offload", 5),
    Trap("async-engine-blocks", f"{_READ} iodepth=32 ioengine=libaio", f"{_READ} iodepth=32 ioengine=libaio direct=1",
         5),
    Trap("async-engine-blocks", f"{_READ} iodepth=32 ioengine=libaio direct=1",
         f"{_READ} iodepth=32 ioengine=io_uring direct=1", 5, flags(**_ZFS), flags(**_ZFS)),
    Trap("default-buffer-compressible", "rw=write bs=4k size=1g end_fsync=1",
         "rw=write bs=4k size=1g end_fsync=1 refill_buffers", 3, _BTRFS),
    Trap("default-buffer-compressible", "rw=write bs=4k size=1g end_fsync=1", "rw=write bs=128k size=1g end_fsync=1", 3,
         flags(**_ZFS, compression="lz4"), flags(**_ZFS, compression="off")),
    Trap("zero-buffers", "rw=write bs=1m size=1g end_fsync=1 zero_buffers",
         "rw=write bs=1m size=1g end_fsync=1 refill_buffers", 6, _BTRFS),
    Trap("unwritten-read", f"{_READ} direct=1", f"{_READ} direct=1", 2, _file(unwritten_bytes=_GIB),
         _file(unwritten_bytes=0)),
    Trap("invalidate-is-not-cold", f"{_READ}", f"{_READ}", 2, flags(fs="mergerfs"), _EXT4),
    Trap("invalidate-is-not-cold", f"{_READ} invalidate=0", f"{_READ} invalidate=1", 5, _EXT4),
    Trap("repeated-offsets", f"{_READ} invalidate=0", f"{_READ} invalidate=0 randrepeat=0", 5),
    Trap("short-run-burst", "rw=write size=1g runtime=10 time_based=1 end_fsync=1",
         "rw=write size=1g runtime=60 time_based=1 end_fsync=1", 4),
    Trap("gtod-reduce", f"{_READ} gtod_reduce=1", f"{_READ} gtod_reduce=0", 5),
    Trap("recordsize-mismatch", _READ, "rw=randread bs=128k size=1g", 3, flags(**_ZFS)),
    Trap("misaligned-sectors", "rw=randwrite bs=4k size=1g end_fsync=1", "rw=randread bs=4k size=1g", 1,
         KnownTarget(Target("zfs", alignment_bytes=512, physical_block_bytes=4096))),
    Trap("volatile-target", _READ, _READ, 1, flags(fs="tmpfs"), flags(fs="ext4")),
    Trap("loop-cache", f"{_READ} direct=1", f"{_READ} direct=1", 1,
         KnownTarget(Target("ext4", loop_without_direct=("/dev/loop0",))), _EXT4),
    Trap("network-target", f"{_READ} direct=1", f"{_READ} direct=1", 1, flags(fs="nfs4"), flags(fs="xfs")),
    Trap("sync-on-reads", f"{_READ} sync=1", "rw=randwrite bs=4k size=1g sync=1", 5),
    Trap("rare-sync", "rw=write bs=4k size=1g fsync=10000", "rw=write bs=4k size=1g fsync=10000 end_fsync=1", 5),
    Trap("few-samples", "rw=randread bs=1m size=1g direct=1 percentile_list=99:99.9",
         "rw=randread bs=4k size=1g direct=1 percentile_list=99:99.9", 6),
    Trap("kib-means-1000", "rw=read size=1g bs=4KiB", "rw=read size=1g bs=4k", 4),
    Trap("kib-means-1000", "rw=read size=1g bs=4KiB", "kb_base=1000 rw=read size=1g bs=4KiB", 4),
    Trap("colon-in-filename", f"{_READ} filename=/dev/disk/by-path/pci-0000:00:1f.2", f"{_READ} filename=/dev/sdb", 5),
    Trap("background-io", _READ, _READ, 1, replace(_EXT4, known=Evidence(None, busy_with=("a resync of md0",))), _EXT4),
)  # fmt: skip


@pytest.mark.parametrize("trap", _TRAPS, ids=lambda trap: trap.rule)
def test_a_trap_is_seen_at_the_option_that_sets_it(trap: Trap) -> None:
    assert (trap.line, trap.rule) in {(line, rule) for line, _, rule in said(job(trap.options), trap.on)}


@pytest.mark.parametrize("trap", _TRAPS, ids=lambda trap: trap.rule)
def test_what_nearly_has_it_is_not_told_of(trap: Trap) -> None:
    assert trap.rule not in rules(job(trap.near), trap.near_on or trap.on)


def test_unlike_jobs_in_one_group() -> None:
    text = "[global]\ngroup_reporting\nsize=1g\ndirect=1\n[a]\nrw=randread\nbs=4k\n[b]\nrw=randread\nbs=1m\n"
    assert (2, "note", "merged-percentiles") in said(text)
    assert "merged-percentiles" not in rules(text.replace("bs=1m", "bs=4k"))


def test_a_shared_file_that_is_only_read() -> None:
    shared = "[global]\nsize=1g\n[r]\nrw=read\nfilename=f\nnumjobs=8\n"
    elsewhere = "[w]\nrw=write\nfilename=g\nend_fsync=1\n"
    assert _message(shared + elsewhere, "shared-file-numjobs").startswith("8 jobs read ")
    beside = elsewhere.replace("=g", "=f")
    assert _message(shared + beside, "shared-file-numjobs").startswith("9 jobs write ")
    writers = shared.replace("rw=read", "rw=write")
    assert _message(writers, "shared-file-numjobs").startswith("8 jobs write ")


def test_small_direct_reads_one_at_a_time_last_long() -> None:
    slow = "rw=randread bs=4k direct=1 size=10g runtime=60"
    assert "runtime-without-time-based" not in rules(job(slow))
    assert "runtime-without-time-based" not in rules(job(f"{slow} iodepth=32"))  # psync has a depth of 1
    for faster in (f"{slow} ioengine=libaio iodepth=32", slow.replace("4k", "1m"), slow.replace("10g", "1g")):
        assert "runtime-without-time-based" in rules(job(faster)), faster


def test_an_ignored_direct_is_not_advised_again() -> None:
    rewrites = job("rw=write bs=128k size=2g direct=1 end_fsync=1 time_based runtime=60")
    found = {each.rule: each for each in lint(source(rewrites), flags(**_ZFS))}
    assert "or direct=1" not in found["rewritten-before-sync"].fix
    buffered = source(rewrites.replace("direct=1", "direct=0"))
    for where, is_advised in ((_ZFS, False), ({"fs": "zfs-2.3"}, True), ({"fs": "ext4"}, True)):
        found = {each.rule: each for each in lint(buffered, flags(**where))}
        assert ("or direct=1" in found["rewritten-before-sync"].fix) is is_advised, where


def test_clones_that_rewrite_one_file_rewrite_its_size() -> None:
    shared = job("rw=write bs=128k size=2g filename=f numjobs=4 end_fsync=1 time_based runtime=60")
    assert " overwrites 2 GiB " in _message(shared, "rewritten-before-sync")


def test_writes_to_a_server_are_not_advised_to_read() -> None:
    found = {each.rule: each for each in lint(source(job("rw=write size=1g direct=1")), flags(fs="nfs4"))}
    assert "read more" not in found["network-target"].fix


@pytest.mark.parametrize("options", [_READ, "rw=write size=1g", "rw=write size=1g end_fsync=1 time_based runtime=60"])
def test_a_target_in_ram_is_the_only_warning(options: str) -> None:
    assert [rule for _, severity, rule in said(job(options), flags(fs="tmpfs", ram="64G"))][:1] == ["volatile-target"]
    assert not {"size-below-cache", "write-without-sync", "rewritten-before-sync"} & rules(
        job(options), flags(fs="tmpfs", ram="64G")
    )


def test_many_clones_of_many_commands_are_compared_quickly() -> None:
    call = "fio --name=r --rw=randread --bs=16k --size=1g --numjobs=4096\n"
    begun = time.process_time()
    said(10 * call, name="bench.sh")
    assert time.process_time() - begun < 4


def test_a_device_that_is_only_a_name() -> None:
    assert "device-in-name" in rules("[/srv/test]\nrw=read\nsize=1g\n")
    assert "device-in-name" not in rules("[test]\nfilename=/srv/test\nrw=read\nsize=1g\n")


def test_a_sound_job_is_left_in_peace() -> None:
    good = "rw=randread bs=4k size=16g direct=1 ioengine=io_uring iodepth=32 runtime=60 time_based=1 filename=f"
    assert said(job(good), _EXT4) == []
    commit = "rw=write bs=2300 size=220m ioengine=sync fdatasync=1 directory=d"
    assert said(job(commit), _EXT4) == []


def _message(text: str, rule: str) -> str:
    return next(each.message for each in lint(source(text)) if each.rule == rule)


_ONCE = "rw=read bs=1m size=4g"


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        (_ONCE, "note"), ("rw=randread bs=4k size=4g", "note"), (f"{_ONCE} runtime=60", "note"),
        ("rw=randrw bs=4k size=4g end_fsync=1", "note"), (f"{_ONCE} numjobs=4", "note"),
        (f"{_ONCE} time_based runtime=60", "warning"), (f"{_ONCE} loops=2", "warning"),
        (f"{_ONCE} io_size=8g", "warning"), (f"{_ONCE} invalidate=0", "warning"), (f"{_ONCE} pre_read=1", "warning"),
        (f"{_ONCE} numjobs=4 filename=f", "warning"), ("rw=randread bs=4k size=4g norandommap", "warning"),
        ("rw=randread bs=512 size=4g", "warning"), (f"{_ONCE} create_fsync=0", "warning"),
    ],
)  # fmt: skip
def test_one_cold_pass_through_the_page_cache_reads_from_the_disk(options: str, severity: str) -> None:
    found = {rule: each for _, each, rule in said(job(options), flags(fs="ext4", ram="64G"))}
    assert found["size-below-cache"] == severity


@pytest.mark.parametrize("fs", ["zfs-2.3", "mergerfs", "nfs4"])
def test_one_pass_is_not_cold_if_invalidate_does_not_reach_the_cache(fs: str) -> None:
    found = {rule: each for _, each, rule in said(job(_ONCE), flags(fs=fs, ram="64G"))}
    assert found["size-below-cache"] == "warning"


def test_the_commits_of_each_clone() -> None:
    text = job("rw=write bs=64k size=320m fsync=1 ioengine=sync numjobs=6")
    (found,) = [each for each in lint(source(text)) if each.rule == "short-commit-test"]
    assert "5.12k commits of 64 KiB in each of 6 clones" in found.message
    assert found.fix.startswith("set time_based=1 with runtime=60, and")
    (found,) = [each for each in lint(source(text + "runtime=90\n")) if each.rule == "short-commit-test"]
    assert found.fix.startswith("set time_based=1, and")


def test_pages_of_an_unknown_file_system() -> None:
    text = job("rw=randrw bs=1k size=9g end_fsync=1")
    for where, said_of in ((None, "most file systems read and write"), (flags(fs="ext4"), "the file system reads")):
        (found,) = [each for each in lint(source(text), where) if each.rule == "recordsize-mismatch"]
        assert said_of in found.message


def test_gaps_between_sequential_writes_prevent_merging() -> None:
    text = job("rw=write bs=4k size=9g end_fsync=1")
    assert "sequential-iops" in rules(text)
    assert "sequential-iops" not in rules(text.replace("rw=write", "rw=write:4k"))


def test_the_fix_names_the_option_of_the_job() -> None:
    text = job("rw=write bs=4k size=9g direct=1 ioengine=libaio iodepth=8")
    for option, fix in (("file_append=1", "remove file_append, so"), ("fallocate=none", "remove fallocate=none, or")):
        (found,) = [each for each in lint(source(f"{text}{option}\n")) if each.rule == "extending-writes"]
        assert found.fix.startswith(fix)


def test_jobs_on_different_devices_in_ram() -> None:
    text = "[global]\nrw=randwrite\nsize=1m\ndirect=1\n[a]\nfilename=/dev/nullb0\n[b]\nfilename=/dev/nullb1\n"
    found = {each.rule: each.message for each in lint(source(text))}
    assert "each of the jobs `a`, `b` uses a path such as /dev/nullb0, which" in found["volatile-target"]
    assert "destroys-data" not in found  # null_blk stores nothing that a disk could lose


def test_messages_and_fixes_name_what_the_jobs_set() -> None:
    """A list of options or sizes that the jobs do not have makes the reader search for them."""
    sweep = "[global]\nrw=read\ndirect=1\nioengine=libaio\niodepth=8\nsize=9g\nend_fsync=1\n[a]\nbs=4k\n[b]\nbs=16k\n"
    found = {each.rule: each for each in lint(source(sweep))}
    assert "sets end_fsync, which has no effect" in found["sync-on-reads"].message
    assert found["sync-on-reads"].fix == "remove end_fsync"
    assert "I/Os of 4 KiB to 16 KiB" in found["sequential-iops"].message
    one_size = {each.rule: each for each in lint(source(sweep.replace("bs=16k", "bs=4k")))}
    assert "I/Os of 4 KiB:" in one_size["sequential-iops"].message
    (found_gtod,) = lint(source(job("rw=randread bs=4k size=9g direct=1 gtod_reduce=1")))
    assert found_gtod.fix == "remove gtod_reduce"


@pytest.mark.parametrize(
    ("file_system", "options", "fix"),
    [
        ("ext4", "pre_read=1", "remove pre_read: fio then"),
        ("ext4", "invalidate=0", "remove invalidate=0: fio then"),
        ("zfs", "", "export and import the pool"),
        ("zfs", "invalidate=0", "remove invalidate=0, and export"),
        ("mergerfs", "", "run sync and write 3 to drop_caches"),
        ("nfs", "", "empty the server's cache"),
    ],
)
def test_the_way_to_a_cold_cache_is_that_of_the_file_system(file_system: str, options: str, fix: str) -> None:
    text = job(f"rw=read bs=1m size=900g filename=/mnt/f {options}")
    found = {each.rule: each for each in lint(source(text), KnownTarget(Target(file_system, ram_bytes=8 * _GIB)))}
    assert found["invalidate-is-not-cold"].fix.startswith(fix)


def test_null_blk_is_used_on_purpose() -> None:
    text = job("rw=randwrite bs=4k size=1g direct=1 time_based=1 runtime=10 filename=/dev/nullb0")
    assert {(each.severity, each.rule) for each in lint(source(text))} == {("note", "volatile-target")}
    in_ram = {each.rule: each.severity for each in lint(source(text.replace("nullb0", "ram0")))}
    assert in_ram["volatile-target"] == "warning"


def test_a_burst_names_the_caches_that_the_job_has() -> None:
    def message(options: str) -> str:
        text = job(f"rw=write bs=1m size=9g direct=1 time_based=1 runtime=10 {options}")
        return next(each.message for each in lint(source(text)) if each.rule == "short-run-burst")

    assert "writes for only 10.0 s" in message("") and "ZFS" in message("")
    assert "ZFS" not in message("filename=/dev/nvme0n1") and "a drive's fast cache" in message("filename=/dev/nvme0n1")


def test_direct_io_of_windows_is_honoured() -> None:
    text = job("rw=read bs=1m size=8g direct=1 numjobs=8 filename=f iodepth=8")
    (found,) = [each for each in lint(source(f"{text}ioengine=windowsaio\n")) if each.rule == "shared-file-numjobs"]
    assert found.severity == "note" and "the drive's cache can serve" in found.message
    (found,) = [each for each in lint(source(f"{text}ioengine=libaio\n")) if each.rule == "shared-file-numjobs"]
    assert found.severity == "warning"


def test_the_engine_of_an_object_store() -> None:
    text = job("rw=write bs=1m size=8g direct=1 numjobs=8 filename=/bucket/o iodepth=8 ioengine=http")
    found = {each.rule: each.fix for each in lint(source(text))}
    assert found["iodepth-with-sync-engine"] == "set iodepth=1 and raise numjobs instead"
    assert "shared-file-numjobs" not in found
    found = {each.rule: each.fix for each in lint(source(text.replace("=http", "=psync")))}
    assert found["iodepth-with-sync-engine"].startswith("use an asynchronous engine (io_uring or libaio); or set")
    assert "shared-file-numjobs" in found
