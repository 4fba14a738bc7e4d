"""Forty invented posts with the typical causes of wrong public results, in other words and numbers, and controls."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import block, count, disks, document, header

_SHELL = "root@nas:~# "
_TIMED = " --runtime=60 --time_based"
_DEEP = "--direct=1 --ioengine=libaio --iodepth=8"
_RANDOM = f"fio --name=rr --filename=/data/f --rw=randread --bs=4k --size=8g {_DEEP}{_TIMED}"
_BUFFERED = (
    "fio --name=rr --filename=/data/f --rw=randread --bs=4k --size=2g --ioengine=psync --runtime=60 --time_based"
)
_WRITER = "fio --name=w --filename=/data/f --rw=randwrite --bs=4k --size=4g --direct=1 --ioengine=libaio --iodepth=4"


def _reads(iops: float, reads: int, merges: int = 0, command: str = _RANDOM) -> str:
    body = header("rr", "randread", depth=8) + block("rr", "read", iops, p50_us=8e6 / iops)
    return f"{_SHELL}{command}\n{body}{disks('sdc', reads=reads, read_merges=merges)}"


def _quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines())


def _stacked(top: int, below: int) -> str:
    body = header("rr", "randread", depth=8) + block("rr", "read", 9000, p50_us=800)
    return (
        f"{_SHELL}{_RANDOM}\n{body}\nDisk stats (read/write):\n"
        f"    dm-3: ios={top}/0, merge=0/0, ticks=1/0, in_queue=1, util=99.0%, aggrios={below}/0, aggrmerge=0/0, "
        f"aggrticks=1/0, aggrin_queue=1, aggrutil=98.00%\n  sda: ios={below}/0, merge=0/0, ticks=1/0, util=98.00%\n"
    )


def _memory(p50: float, p10: float, engine: str = "psync", name: str = "rr") -> str:
    return header(name, "randread", engine=engine) + block(name, "read", 1e6 / p50, p50_us=p50, p10_us=p10)


def _two(write: str, read: str, *, created: bool = True, wrote: float = 3000, seconds: float = 60) -> str:
    laid = "w: Laying out IO file (1 file / 4096MiB)\n" if created else ""
    return (
        f"Writes first:\n\n```\n{_SHELL}{write}\n{header('w', 'randwrite', depth=4)}{laid}"
        f"{block('w', 'write', wrote, seconds, p50_us=4e6 / wrote)}```\n\nthen reads\n\n```\n{_SHELL}{read}\n"
        f"{header('rr', 'randread', depth=8)}{block('rr', 'read', 20_000, p50_us=390)}```\n"
    )


_READER = _RANDOM.replace("--size=8g", "--size=4g")

TRAPS: dict[str, tuple[str, str]] = {
    "a third of the direct reads reached the disk": (_reads(9000, 180_000), "disk-statistics"),
    "three quarters of them": (_reads(5000, 210_000, 10_000), "disk-statistics"),
    "quoted in a mail": (_quoted(_reads(7100, 99_000)), "disk-statistics"),
    "random reads through the page cache": (
        _reads(7000, 120_000, command=_BUFFERED).replace("iodepth=8", "iodepth=1"),
        "disk-statistics",
    ),
    "a volume whose own count is too low": (_stacked(90_000, 100_000), "disk-statistics"),
    "most reads in 6 µs": (_memory(6, 5), "memory-latency"),
    "a fifth of the reads in 3 µs": (_memory(70, 3), "memory-latency"),
    "posixaio of a Mac": (_memory(8, 7, "posixaio", "bench"), "memory-latency"),
    "windowsaio": (_memory(9, 8, "windowsaio", "qd1"), "memory-latency"),
    "2 GiB in a NAS": (f"{_BUFFERED}\n{_memory(24, 20)}", "small-file"),
    "fio 2 and 1 GiB": (
        f"$ {_BUFFERED.replace('size=2g', 'size=1g')}\n{header('rr', 'randread', engine='psync', old=True)}"
        + block("rr", "read", 38_000, 60, p50_us=25, old=True),
        "small-file",
    ),
    "a job file and buffered reads": (
        f"[rr]\nrw=randread\nbs=8k\nsize=512m\nioengine=psync\n\n{block('rr', 'read', 30_000, 12, 8192, p50_us=30)}",
        "small-file",
    ),
    "twelve passes over a gigabyte": (
        "random-8k: Laying out IO file (1 file / 1024MiB)\n"
        + block("random-8k", "read", 180_000, 10, 8192, p50_us=35, slat_us=3),
        "small-file",
    ),
    "44 GB/s": (
        "fio --name=seq --rw=read --bs=1m --size=4g --io_size=40g --direct=1 --ioengine=io_uring --iodepth=16\n"
        + block("seq", "read", 42_000, 1.2, 1024**2, p50_us=380),
        "small-file",
    ),
    "eight readers of 128 MiB": (
        "fio --name=r --rw=read --bs=1m --size=128m --numjobs=8 --group_reporting\n"
        + block("r", "read", 6900, 0.15, 1024**2, p50_us=1100, jobs=8),
        "small-file",
    ),
    "writes copied in 90 µs": (block("w", "write", 9000, slat_us=90, clat_us=3, p50_us=2), "copied-writes"),
    "fio 2 writes": (block("db", "write", 5200, slat_us=180, clat_us=6, p50_us=2, old=True), "copied-writes"),
    "buffered libaio writes": (
        _WRITER.replace("--direct=1", "--direct=0")
        + "\n"
        + block("w", "write", 30_000, slat_us=31, clat_us=2, p50_us=2),
        "copied-writes",
    ),
    "a file of which 63% was written": (_two(f"{_WRITER} --norandommap", _READER, wrote=17_476), "earlier-job"),
    "a write that its runtime ended": (_two(f"{_WRITER} --runtime=60", _READER), "earlier-job"),
    "zipf writes": (_two(f"{_WRITER} --random_distribution=zipf:1.1", _READER, wrote=17_000), "earlier-job"),
    "a file just written through memory": (
        _two(
            _WRITER.replace("--direct=1", "--end_fsync=1"),
            _READER.replace("--direct=1", "--direct=0").replace("--size=4g", "--size=16g"),
            wrote=70_000,
        ).replace("avg=390.00", "avg=90.00").replace("  390]", "   90]"),
        "earlier-job",
    ),
    "a RAM disk in the text": (
        "To rule the disk out I put the file on a ramdisk.\n\n"
        + block("x", "read", 33_000, 60, 65536, p50_us=29),
        "named-memory",
    ),
    "the ARC in the text": (
        "This is all served from ARC of course:\n" + block("seq", "read", 5200, 20, 1024**2, p50_us=180),
        "named-memory",
    ),
    "hard disks in the text": (
        "Pool: 4 x IronWolf 8TB in two mirrors\n\n"
        + "fio --name=rr --rw=randread --bs=4k --size=64g --direct=1 --ioengine=libaio --iodepth=32\n"
        + block("rr", "read", 61_000, p50_us=520),
        "named-disk",
    ),
}  # fmt: skip

CONTROLS: dict[str, str] = {
    "all direct reads reached the disk": _reads(9000, 539_000),
    "with merges": _reads(9000, 300_000, 241_000),
    "a volume and its disk": _stacked(540_100, 540_100),
    "statistics that are all 0": _reads(9000, 0).replace("util=93.10%", "util=0.00%"),
    "a short run": _RANDOM.replace("60", "1.5s")
    + "\n"
    + block("rr", "read", 9000, 1.5, p50_us=800)
    + disks("sdc", reads=300),
    "flash at depth 1": _memory(88, 75),
    "Optane": f"Intel Optane 900P\n\n{_memory(9, 8)}",
    "a cold buffered read": f"{_BUFFERED}\n{_memory(5200, 2900)}",
    "synced writes": (
        "fio --name=w --rw=randwrite --bs=4k --size=1g --fdatasync=1 --ioengine=libaio --runtime=60 --time_based\n"
        + block("w", "write", 900, slat_us=40, clat_us=3, p50_us=3)
    ),
    "direct writes that extend a file": f"{_WRITER}{_TIMED}\n"
    + block("w", "write", 2400, slat_us=410, clat_us=2, p50_us=2),
    "a complete fill, then direct reads": _two(
        _WRITER.replace("randwrite", "write"), _READER, wrote=18_000
    ).replace("rw=randwrite", "rw=write"),
    "a cut-short write on a device": _two(
        f"{_WRITER} --runtime=60".replace("/data/f", "/dev/sdz"), _READER.replace("/data/f", "/dev/sdz")
    ),
    "unsaid RAM disk": "I don't use a ramdisk here.\n\n" + block("x", "read", 9_000, 60, 65536, p50_us=90),
    "a RAM disk as slow as a disk": "I put it on a ramdisk:\n\n" + block("x", "write", 170, 60, p50_us=5800),
    "a NAS of hard disks": "8x Seagate IronWolf, raidz2\n\n" + block("rr", "read", 520, p50_us=15_000),
}  # fmt: skip


def test_there_are_forty() -> None:
    assert len(TRAPS) + len(CONTROLS) == 40


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_suspect_or_refuted_for_its_cause(name: str) -> None:
    text, rule = TRAPS[name]
    audited = audit_text("post", text, Context())[-1]
    doubts = [finding.rule for finding in audited.findings if finding.effect in ("suspects", "refutes")]
    assert rule in doubts, (audited.verdict, audited.findings)
    assert audited.verdict in ("suspect", "refuted")


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_is_not_doubted(name: str) -> None:
    found = audit_text("post", CONTROLS[name], Context())
    assert found
    for audited in found:
        assert audited.verdict in ("sound", "unproven"), audited.findings


_WRAPPED = (
    "fio --name=one --rw=randread --bs=4k\n"
    "  --size=10g --direct=1 --ioengine=libaio --iodepth=16\n"
    "  --runtime=60 --time_based\n"
)
FORMS = {
    "wrapped over lines": _WRAPPED,
    "wrapped with backslashes": _WRAPPED.replace("4k\n", "4k \\\n").replace("16\n", "16 \\\n"),
    "PowerShell": "PS C:\\Users\\me> .\\fio.exe " + " ".join(_WRAPPED.split()[1:]) + "\n",
    "cmd": "C:\\Program Files\\fio>fio " + " ".join(_WRAPPED.split()[1:]) + "\n",
    "PowerShell with backticks": "PS D:\\> " + " ".join(_WRAPPED.split()).replace(" --size", " `\n  --size") + "\n",
    "cmd with carets": "C:\\> " + " ".join(_WRAPPED.split()).replace(" --size", " ^\n  --size") + "\n",
    "a coloured prompt": "\x1b[01;32mme@host\x1b[00m:\x1b[01;34m~\x1b[00m$ " + " ".join(_WRAPPED.split()) + "\n",
    "zsh": "❯ " + " ".join(_WRAPPED.split()) + "\n",
    "sudo and time": "# time sudo " + " ".join(_WRAPPED.split()) + "\n",
    "in a quotation": _quoted(_WRAPPED),
    "long dashes": " ".join(_WRAPPED.split()).replace("--", "—") + "\n",
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_command_in_each_form_is_read(form: str) -> None:
    text = FORMS[form] + block("one", "read", 12_345, p50_us=1200)
    (audited,) = audit_text("post", text, Context())
    assert audited.figures.directions["read"].iops == pytest.approx(12_345, rel=0.01)
    assert audited.rerun is not None and "--size=10g" in audited.rerun and "--iodepth=16" in audited.rerun
    assert audited.command is not None and "''" not in audited.command and "^" not in audited.command


def test_an_exact_bracket_of_fio_3_1_is_used() -> None:
    (audited,) = audit_text("x", "  read: IOPS=3064, BW=11.0MiB/s (12.6MB/s)(718MiB/60001msec)\n", Context())
    assert audited.figures.directions["read"].bandwidth_bytes == 12.6e6


def test_a_text_cut_off_after_the_first_clone_has_its_values() -> None:
    text = block("many", "write", 850, p50_us=1100) + "many: (groupid=0, jobs=1): err= 0: pid=48"
    (audited,) = audit_text("x", text, Context())
    assert audited.figures.directions["write"].iops == 850


def test_one_clone_of_several_is_not_held_to_the_depth_of_all() -> None:
    command = "fio --name=many --rw=randread --bs=4k --size=9g --direct=1 --ioengine=libaio --iodepth=16 --numjobs=4"
    text = f"{command}\n{header('many', 'randread', depth=16)}{block('many', 'read', 10_000, p50_us=1600)}"
    (one,) = audit_text("x", text, Context())
    assert any("3 of " in gap and "4 clones" in gap for gap in one.missing)
    assert "littles-law" not in {each.rule for each in one.findings}
    (grouped,) = audit_text("x", text.replace("--numjobs=4", "--numjobs=4 --group_reporting"), Context())
    assert "littles-law" in {each.rule for each in grouped.findings}
    assert not any("clones" in gap for gap in grouped.missing)


@pytest.mark.parametrize(("mean_us", "effect"), [(2_000, None), (40_000_000, "refutes"), (130_000_000, "notes")])
def test_a_mean_latency_longer_than_the_run_says_nothing_about_the_rate(mean_us: float, effect: str | None) -> None:
    text = header("r", "randread", depth=16) + block("r", "read", 8_000, seconds=60, clat_us=mean_us)
    (found,) = audit_text("x", text, Context())
    assert {each.effect for each in found.findings if each.rule == "littles-law"} == ({effect} if effect else set())
    assert found.verdict == ("refuted" if effect == "refutes" else "unproven")


def test_an_fsdax_mount_in_the_text_is_not_too_fast() -> None:
    command = "fio --name=d --rw=randread --bs=4k --size=9g --direct=1 --filename=/srv/f"
    text = f"{command}\n{header('d', 'randread', engine='psync')}{block('d', 'read', 300_000, p50_us=2)}"
    (disk,) = audit_text("x", text, Context())
    (dax,) = audit_text("x", f"/srv is ext4, mounted with -o dax.\n\n{text}", Context())
    assert (disk.verdict, dax.verdict) == ("refuted", "unproven")


def test_a_total_that_is_cut_off_has_its_rate() -> None:
    text = "   READ: bw=213MiB/s (223MB/s), 213MiB/s-213MiB/s (223MB/s-223MB/s), io=307"
    (audited,) = audit_text("x", text, Context())
    assert audited.figures.directions["read"].bandwidth_bytes == 223e6


def test_json_after_warnings_and_twice_is_one_result() -> None:
    options = {"rw": "randread", "bs": "4k", "direct": "1", "size": "10g"}
    once = document("j", "read", 4321.5, options)
    warned = f"fio: this platform does not support process shared mutexes\nnote: both iodepth >= 1\n{once}\n"
    (audited,) = audit_text("x", warned, Context())
    assert audited.figures.directions["read"].iops == 4321.5


def test_counts_are_printed_as_fio_does() -> None:
    assert [count(value) for value in (950, 24_400, 243_000)] == ["950", "24.4k", "243k"]
