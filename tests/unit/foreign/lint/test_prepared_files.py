"""What a script's other commands, and the names in paths, show about the files of a job."""

import time
from pathlib import Path

import pytest

from poolproof.errors import UsageError
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.model import Diagnostic
from poolproof.foreign.lint.sources import read_sources
from tests.unit.foreign.lint.making import flags, rules, source


def _found(text: str, rule: str) -> list[Diagnostic]:
    return [each for each in lint(source(text, "b.sh")) if each.rule == rule]


_READS_ALL = "fio --name=r --rw=randread --bs=4k --direct=1 --filename="
_FILLS = "fio --name=w --rw=write --bs=1m --direct=1 --size=9g --filename="


@pytest.mark.parametrize(
    "before",
    [
        "truncate -s 9G /mnt/f",
        "sudo truncate --size=9G /mnt/f",
        "fallocate -l 9G /mnt/f",
        "F=/mnt/f\nfallocate -l 9G $F",
        "dd if=/dev/zero of=/mnt/f bs=1M count=0 seek=9216",
        "blkdiscard -f /mnt/f",
        "qemu-img create -f raw /mnt/f 9G",
        "qemu-img create /mnt/f 9G -o preallocation=falloc",
    ],
)
def test_a_file_that_another_command_leaves_without_data(before: str) -> None:
    read = f"{_READS_ALL}/mnt/f --size=9g\n"
    assert _found(f"{before}\n{read}", "unwritten-read")
    assert not _found(f"{before}\n{_FILLS}/mnt/f\n{read}", "unwritten-read")
    assert not _found(f"{before}\n{read.replace('/mnt/f', '/mnt/g')}", "unwritten-read")
    assert not _found(f"{before}\nrm -f /mnt/f\n{read}", "unwritten-read")
    assert not _found(f"{read}{before}\n", "unwritten-read")


@pytest.mark.parametrize(
    ("before", "device"),
    [
        ("sudo nvme format /dev/nvme0n1 --ses=1 -f", "/dev/nvme0n1"),
        ("nvme format -n 1 /dev/nvme0", "/dev/nvme0n1"),
        ("nvme sanitize /dev/nvme0 -a 2", "/dev/nvme0n1"),
        ("hdparm --user-master u --security-erase pass /dev/sdb", "/dev/sdb"),
        ("lvcreate -V 100G -T vg0/pool -n thin1", "/dev/vg0/thin1"),
        ("lvcreate --virtualsize 100G --thin --name thin1 /dev/vg0/pool", "/dev/mapper/vg0-thin1"),
        ("zfs create -s -V 100G -o volblocksize=16k tank/v", "/dev/zvol/tank/v"),
    ],
)
def test_a_device_that_another_command_leaves_without_data(before: str, device: str) -> None:
    (found,) = _found(f"{before}\n{_READS_ALL}{device}\n", "unwritten-read")
    assert "filefrag" not in found.fix
    fill = f"fio --name=w --rw=write --bs=1m --direct=1 --filename={device}\n"
    assert not _found(f"{before}\n{fill}{_READS_ALL}{device}\n", "unwritten-read")
    assert not _found(f"{before}\n{_READS_ALL}/dev/sdz\n", "unwritten-read")


@pytest.mark.parametrize(
    "before",
    [
        "nvme list /dev/nvme0n1",
        "hdparm -I /dev/nvme0n1",
        "qemu-img create -f qcow2 /dev/nvme0n1 9G",
        "qemu-img create -o preallocation=full /dev/nvme0n1 9G",
        "lvcreate -L 100G -n nvme0n1 vg0",
        "zfs create -o recordsize=16k tank/v",
    ],
)
def test_a_command_that_leaves_data_as_it_is(before: str) -> None:
    devices = ":".join(("/dev/nvme0n1", "/dev/vg0/nvme0n1", "/dev/zvol/tank/v"))
    assert not _found(f"{before}\n{_READS_ALL}{devices}\n", "unwritten-read")


@pytest.mark.parametrize(
    ("job", "is_found"),
    [
        ("--rw=randwrite --bs=4k", True),
        ("--rw=write --bs=128k --loops=2", False),
        ("--rw=write --bs=128k --size=100%", False),
        ("--rw=write --bs=128k --size=10g", True),
        ("--rw=write --bs=128k --runtime=60", True),
    ],
)
def test_a_job_that_fills_a_trimmed_device(job: str, *, is_found: bool) -> None:
    for erase in ("blkdiscard /dev/nvme0n1", "nvme format /dev/nvme0n1"):
        text = f"{erase}\nfio --name=w --filename=/dev/nvme0n1 --direct=1 {job}\n"
        assert bool(_found(text, "trimmed-ssd")) == is_found


@pytest.mark.parametrize(
    ("before", "is_found"),
    [
        ("mount -t tmpfs -o size=8g tmpfs /mnt/fast", True),
        ("sudo mount -o size=8g --types=ramfs none /mnt/fast/", True),
        ("mount -t tmpfs tmpfs /mnt/fast\numount /mnt/fast", False),
        ("mount -t tmpfs tmpfs /mnt/fast\nmount /dev/sdb1 /mnt/fast", False),
        ("mount -t tmpfs tmpfs /mnt/faster", False),
        ("mount -t tmpfs tmpfs /mnt", True),
        ("mount -t tmpfs tmpfs /mnt\nmount /dev/sdb1 /mnt/fast", False),
        ("mount -t xfs /dev/sdb1 /mnt/fast", False),
    ],
)
def test_a_directory_on_which_the_script_mounts_a_tmpfs(before: str, *, is_found: bool) -> None:
    job = "fio --name=a --directory=/mnt/fast/d --rw=randread --bs=4k --size=1g --direct=1\n"
    assert bool(_found(f"{before}\n{job}", "volatile-target")) == is_found


_READ_AGAIN = "fio --name=r --filename=/mnt/f --rw=randread --bs=4k --size=64g --invalidate=0\n"
_DROP = "sync; echo 3 > /proc/sys/vm/drop_caches\n"


@pytest.mark.parametrize(
    ("script", "lines"),
    [
        (f"{_DROP}{_READ_AGAIN}", []),
        (f"{_DROP}{_READ_AGAIN}{_READ_AGAIN}", [3]),
        (f"{_DROP}for i in 1 2; do\n{_READ_AGAIN}done\n", [3]),
        (f"for i in 1 2; do\n{_DROP}{_READ_AGAIN}done\n", []),
        (f"for i in 1 2; do\n{_READ_AGAIN}{_DROP}done\n", [2]),
        (f"for d in a b; do echo $d; done\n{_DROP}{_READ_AGAIN}", []),
        # calls outside of a loop run once
        (f"{_DROP}{_READ_AGAIN}for d in a b; do\n{_FILLS}/mnt/$d\ndone\n", []),
        (f"{_DROP}{_READ_AGAIN}for d in a b; do\nfor e in 1 2; do\n{_FILLS}/mnt/$d$e\ndone\ndone\n{_READ_AGAIN}", [8]),
    ],
)
def test_caches_that_the_script_drops_before_each_run(script: str, lines: list[int]) -> None:
    for rule in ("invalidate-is-not-cold", "repeated-offsets"):
        assert [each.line for each in _found(script, rule)] == lines


def test_relative_paths_belong_to_the_working_directory() -> None:
    read = f"{_READS_ALL}f --size=9g\n"
    assert _found(f"cd /mnt\ntruncate -s 9G f\n{read}", "unwritten-read")
    assert _found(f"truncate -s 9G /mnt/f\ncd /mnt\n{read}", "unwritten-read")
    assert not _found(f"truncate -s 9G f\ncd /mnt\n{read}", "unwritten-read")
    (note,) = _found(f'cd "$1"\n{read}', "unknown-variable")
    assert note.line == 2 and note.message.startswith("cd $1: ")
    assert not _found(f'cd "$1"\n{_READS_ALL}/mnt/f', "unknown-variable")


def test_a_device_that_the_script_trims() -> None:
    device = "/dev/nvme0n1"
    write = f"fio --name=w --rw=randwrite --bs=4k --direct=1 --filename={device}\n"
    fill = write.replace("randwrite --bs=4k", "write --bs=1m --loops=2")
    assert _found(f"blkdiscard {device}\n{write}", "trimmed-ssd")
    assert not _found(write, "trimmed-ssd")
    assert _found(f"blkdiscard {device}\n{_READS_ALL}{device}\n", "unwritten-read")
    assert not _found(f"blkdiscard {device}\n{fill}{_READS_ALL}{device}\n", "unwritten-read")


_FROM_SNAPSHOT = "aws ec2 create-volume --size 100 --snapshot-id snap-0123 --volume-type gp3"
_READS_DEVICE = f"{_READS_ALL}/dev/nvme1n1"


@pytest.mark.parametrize(
    ("before", "is_found"),
    [
        (_FROM_SNAPSHOT, True), ("gcloud compute disks create d --source-snapshot=s --zone=z", True),
        ("az disk create -g rg -n d --source $SNAPSHOT_ID", True), ("aws ec2 create-volume --size 100", False),
        (f"{_FROM_SNAPSHOT} --volume-initialization-rate 300", False),
        ("az disk create -g rg -n d --source disk-7", False),
        (f"{_FROM_SNAPSHOT}\ndd if=/dev/nvme1n1 of=/dev/null bs=1M", False),
        (f"{_FROM_SNAPSHOT}\ndd if=/dev/nvme1n1 of=/dev/null bs=1M count=10", True),
        (f"dd if=/dev/nvme1n1 of=/dev/null bs=1M\n{_FROM_SNAPSHOT}", True),
        (f"{_FROM_SNAPSHOT}\n{_FILLS}/dev/nvme1n1", False),
    ],
)  # fmt: skip
def test_a_cloud_volume_that_the_script_creates_from_a_snapshot(before: str, is_found: bool) -> None:
    assert bool(_found(f"{before}\n{_READS_DEVICE} --size=9g\n", "snapshot-volume")) == is_found
    assert not _found(f"{before}\nmount /dev/nvme1n1 /mnt\n{_READS_ALL}/mnt/f --size=9g\n", "snapshot-volume")


@pytest.mark.parametrize(
    ("before", "is_nodatacow"),
    [
        ("chattr +C /mnt/t", True), ("sudo chattr -R +C /mnt", True), ("cd /mnt\nchattr +C ./t", True),
        ("touch /mnt/t/f; chattr +C /mnt/t/f; truncate -s 1g /mnt/t/f", True), ("chattr +C /mnt/other", False),
        ("chattr +c /mnt/t", False), ("chattr +C /mnt/t\nchattr -C /mnt/t", False), ("lsattr /mnt/t", False),
    ],
)  # fmt: skip
def test_files_that_chattr_makes_nodatacow(before: str, is_nodatacow: bool) -> None:
    write = "fio --name=w --rw=randwrite --bs=4k --direct=1 --size=9g --filename=/mnt/t/f\n"
    found = rules(f"{before}\n{write}", flags(fs="btrfs"), "b.sh")
    assert ("btrfs-nodatacow" in found) == is_nodatacow
    assert ("btrfs-direct-writes" in found) == (not is_nodatacow)
    assert "btrfs-nodatacow" not in rules(f"{before}\n{write}", flags(fs="ext4"), "b.sh")


def test_zeros_from_dd_on_a_file_system_that_compresses() -> None:
    zeros = "dd if=/dev/zero of=/mnt/f bs=1M count=9216\n"
    read = f"{_READS_ALL}/mnt/f --size=9g\n"
    for compression, random, is_found in (("zstd", False, True), ("off", False, False), ("zstd", True, False)):
        where = flags(fs="btrfs", compression=compression)
        text = (zeros.replace("zero", "urandom") if random else zeros) + read
        assert ("zero-buffers" in rules(text, where, "b.sh")) == is_found


@pytest.mark.parametrize(("path", "is_ram"), [("/dev/shm/f", True), ("/dev/ram0", True), ("/dev/zram1", True),
                                              ("/dev/sda", False), ("/mnt/dev/shm/f", False)])  # fmt: skip
def test_a_path_whose_name_says_ram(path: str, is_ram: bool) -> None:
    assert bool(_found(f"{_READS_ALL}{path} --size=1g\n", "volatile-target")) == is_ram
    folder, _, name = path.rpartition("/")
    assert bool(_found(f"{_READS_ALL}{name} --directory={folder} --size=1g\n", "volatile-target")) == is_ram


def test_synchronous_writes_of_one_file_are_not_merged_in_ram() -> None:
    write = "fio --name=w --rw=write --bs=4m --size=9g --numjobs=8 --direct=1 --filename=/mnt/f"
    assert [each.severity for each in _found(f"{write}\n", "shared-file-numjobs")] == ["warning"]
    assert [each.severity for each in _found(f"{write} --sync=1\n", "shared-file-numjobs")] == ["note"]


@pytest.mark.parametrize(("options", "is_warm"), [
    ("--rw=randread --bs=16k", False), ("--rw=randread --bs=2k", True), ("--rw=write --bs=16k", False),
    ("--rw=randrw --bs=4k", True),
])  # fmt: skip
def test_direct_io_that_zfs_honours(options: str, is_warm: bool) -> None:
    text = f"fio --name=a --directory=/tank --size=9g --direct=1 --ioengine=io_uring {options}\n"
    warm = {"size-below-cache", "repeated-offsets", "invalidate-is-not-cold", "write-without-sync"}
    new, old = (flags(fs=fs, ram="64G", recordsize="16k", compression="off") for fs in ("zfs-2.3", "zfs-2.2"))
    assert bool(warm & rules(text, new, "b.sh")) == is_warm
    assert warm & rules(text, old, "b.sh")


_DROP = "echo 3 > /proc/sys/vm/drop_caches"
_WRITTEN = "fio --name=w --filename=/mnt/f --rw=write --bs=1m --size=1g"
_READ_AGAIN = "fio --name=r --filename=/mnt/f --rw=read --bs=1m --size=1g"


@pytest.mark.parametrize(
    ("between", "rule"),
    [
        (_DROP, "drop-caches-without-sync"),
        (f"sync\n{_DROP}", None),
        (f"sync; {_DROP}", None),
        (f"{_DROP}\nsync", "drop-caches-without-sync"),
        ("umount /mnt; mount /mnt", None),
        ("", "read-after-write"),
    ],
)
def test_caches_that_are_dropped_between_a_write_and_a_read(between: str, rule: str | None) -> None:
    found = rules(f"{_WRITTEN}\n{between}\n{_READ_AGAIN}\n")
    assert found & {"drop-caches-without-sync", "read-after-write"} == ({rule} if rule else set())


@pytest.mark.parametrize(
    ("script", "is_warm"),
    [
        (f"cold() {{ sync; {_DROP}; }}\n{_WRITTEN}\ncold\n{_READ_AGAIN}\n", False),
        (f"function cold {{\n  sync\n  {_DROP}\n}}\n{_WRITTEN}\n  cold && {_READ_AGAIN}\n", False),
        (f"cold() {{ sync; {_DROP}; }}\n{_WRITTEN}\n{_READ_AGAIN}\n", True),
        (f"cold() {{ sync; {_DROP}; }}\ncold\n{_WRITTEN}\n{_READ_AGAIN}\n", True),
        (f"cold() {{ sync; }}\n{_WRITTEN}\ncold\n{_READ_AGAIN}\n", True),
    ],
)
def test_caches_that_a_function_drops(script: str, *, is_warm: bool) -> None:
    assert ("read-after-write" in rules(script)) is is_warm


_EACH = "fio --name=j --filename=/mnt/f --rw=$rw --bs=1m --size=1g"


@pytest.mark.parametrize(
    ("script", "is_warm"),
    [
        (f"for rw in write read; do\n  sync; {_DROP}\n  {_EACH}\ndone\n", False),
        (f"for rw in write read; do\n  {_EACH}\n  sync; {_DROP}\ndone\n", False),
        (f"for rw in write read; do\n  {_EACH}\ndone\nsync; {_DROP}\n", True),
        (f"sync; {_DROP}\nfor rw in write read; do\n  {_EACH}\ndone\n", True),
        (f"for n in 1 2; do\n  sync; {_DROP}\n  for rw in write read; do\n    {_EACH} --name=$n\n  done\ndone\n", True),
    ],
)
def test_caches_that_are_dropped_in_each_iteration(script: str, *, is_warm: bool) -> None:
    assert ("read-after-write" in rules(script)) is is_warm


def test_caches_that_are_dropped_after_a_synced_write() -> None:
    assert "drop-caches-without-sync" not in rules(f"{_WRITTEN} --end_fsync=1\n{_DROP}\n{_READ_AGAIN}\n")


def test_a_text_with_too_many_calls() -> None:
    call = "fio --name=r --filename=/dev/sdx --rw=read --direct=1\n"
    assert "too-many-calls" not in rules(call)
    assert rules(call * 501) == {"too-many-calls"}


@pytest.mark.parametrize("word", ["--name=r ", "fio ", "fio-x --name=r "])
def test_a_call_with_thousands_of_words_is_refused_or_judged_in_time(word: str) -> None:
    begun = time.process_time()
    found = rules("fio " + word * (100_000 // len(word)))
    assert ("too-many-calls" in found) == ("--name" in word)
    assert time.process_time() - begun < 15


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    script = tmp_path / "script.sh"
    script.write_text("#" * 512 * 1024, encoding="utf-8")
    assert read_sources([str(script)], {}, {})
    script.write_text("#" * 512 * 1024 + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="larger than 512 KiB"):
        read_sources([str(script)], {}, {})


def test_a_file_with_too_many_sections(tmp_path: Path) -> None:
    job = tmp_path / "job.fio"
    job.write_text("[a]\n" * 1000)
    assert read_sources([str(job)], {}, {})
    job.write_text("[a]\n" * 1000 + " [b]\n")
    with pytest.raises(UsageError, match="more than 1,000 sections"):
        read_sources([str(job)], {}, {})


def test_a_device_that_never_ends() -> None:
    with pytest.raises(UsageError, match=r"/dev/zero .*character device"):
        read_sources(["/dev/zero"], {}, {})


@pytest.mark.parametrize(
    ("drop", "is_cold"),
    [("zpool export tank && zpool import tank\n", True), ("echo 3 > /proc/sys/vm/drop_caches\n", False), ("", False)],
)
def test_a_pool_that_the_script_exports(drop: str, *, is_cold: bool) -> None:
    zfs = flags(fs="zfs-2.3", ram="64G")
    job = "fio --name=z --directory=/tank/d --rw=randread --bs=128k --size=300g --ioengine=psync\n"
    found = {each.rule for each in lint(source(f"{drop}{job}", "b.sh"), zfs)}
    assert found.isdisjoint({"invalidate-is-not-cold", "repeated-offsets"}) == is_cold


def test_a_job_that_only_creates_its_file() -> None:
    ext4 = flags(fs="ext4", ram="64G")
    create = "fio --name=c --filename=/mnt/f --size=8g --rw=randread --bs=4k --iodepth=32 --create_only=1\n"
    read = "fio --name=r --filename=/mnt/f --size=8g --rw=randread --bs=4k --direct=1\n"
    assert not lint(source(create, "b.sh"), ext4)
    assert {each.rule for each in lint(source(create.replace(" --create_only=1", ""), "b.sh"), ext4)}
    assert not lint(source(f"{create}{read}", "b.sh"), ext4)
    (found,) = lint(source(f"{create.replace('randread', 'write')}{read}", "b.sh"), ext4)
    assert found.rule == "unwritten-read" and found.line == 2 and "create_only" in found.message


@pytest.mark.parametrize(
    ("before", "options", "expected"),
    [
        ("fio {w}\n", "", "warning"),
        ("fio {w} --end_fsync=1\n", "", "note: fio first drops"),
        ("fio {w} --direct=1\n", "", "note: fio first drops"),
        ("fio {w}\nsync; echo 3 > /proc/sys/vm/drop_caches\n", "", "note: fio first drops"),
        ("umount /mnt; mount /mnt\n", " --invalidate=0", "note: the files are not in it"),
        ("fio {w} --end_fsync=1\n", " --invalidate=0", "warning"),
    ],
)
def test_a_file_below_the_ram_that_is_not_cached(before: str, options: str, expected: str) -> None:
    text = before.format(w="--name=w --filename=/mnt/f --rw=write --bs=1m --size=9g")
    text += f"fio --name=r --filename=/mnt/f --rw=read --bs=1m --size=9g{options}\n"
    (found,) = [
        each for each in lint(source(text, "b.sh"), flags(fs="xfs", ram="64G")) if each.rule == "size-below-cache"
    ]
    severity, _, words = expected.partition(": ")
    assert found.severity == severity and words in found.message


@pytest.mark.parametrize(
    ("before", "record"),
    [
        ("", "128 KiB"),
        ("zpool create -O recordsize=1M tank sda\n", "1 MiB"),
        ("R=64k\nzfs set recordsize=$R tank\n", "64 KiB"),
        ("zfs set recordsize=16k tank\n", ""),
        ("zfs set recordsize=$1 tank\n", ""),
        ("zfs create -o recordsize=16k tank/a\nzfs create -o recordsize=1M tank/b\n", ""),
    ],
)
def test_the_recordsize_that_a_script_sets(before: str, record: str) -> None:
    call = "fio --name=a --directory=/tank/a --rw=randread --bs=16k --size=200g --direct=1\n"
    found = [
        each
        for each in lint(source(before + call, name="a.sh"), flags(fs="zfs-2.3"))
        if each.rule == "recordsize-mismatch"
    ]
    assert [f"whole records of {record}:" in each.message for each in found] == [True] * bool(record)
