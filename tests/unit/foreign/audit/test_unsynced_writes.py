"""Buffered writes without a sync: how much of the data can have been left in RAM."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import MIB, block, header

_IOSTAT = "Device            r/s     rkB/s     w/s     wkB/s   await  %util\n" + (
    "sdc              0.00      0.00  160.00 {rate:.2f}    6.00  99.00\n\n"
)


def _written(rate: float, seconds: float, size: str, before: str = "", options: str = "") -> Audited:
    """Return the audit of unsynced writes of 1 MiB. `rate`: MiB per second."""
    command = f"fio --name=w --filename=/srv/f --rw=write --bs=1m --size={size} --ioengine=psync{options}\n"
    body = header("w", "write", MIB, "psync") + block("w", "write", rate, seconds, MIB, clat_us=1e6 / rate)
    return audit_text("post", before + command + body, Context())[0]


def _effect(audited: Audited) -> str:
    (effect,) = {finding.effect for finding in audited.findings if finding.rule == "write-without-sync"}
    return effect


@pytest.mark.parametrize(
    ("ram", "size", "seconds", "effect"),
    [
        ("16 GB of RAM\n", "160g", 1000, "notes"),
        ("128 GB of RAM\n", "160g", 1000, "suspects"),
        ("on a vm with 30g memory:\n", "40g", 256, "suspects"),
        ("on a slower box with\n30g memory:\n", "40g", 256, "notes"),
        ("it uses 30g memory:\n", "40g", 256, "suspects"),
        ("", "90g", 600, "notes"),
        ("", "80g", 530, "suspects"),
        ("16 GB of RAM\n", "4g", 1000, "suspects"),
    ],
    ids=[
        "ten times the RAM",
        "more than the RAM",
        "a virtual machine",
        "a third more than the RAM",
        "a program",
        "for long",
        "for minutes",
        "the same 4 GiB again and again",
    ],
)
def test_only_a_small_part_can_be_left_in_ram(ram: str, size: str, seconds: float, effect: str) -> None:
    loops = " --time_based --runtime=1000" if size == "4g" else ""
    assert _effect(_written(160, seconds, size, ram, loops)) == effect


@pytest.mark.parametrize(
    ("setting", "effect"),
    [
        ("I restricted the amount of dirty pages to 3/6 GB.\n", "notes"),
        ("I restricted the amount of dirty pages to 3/7 GB.\n", "suspects"),
        ("vm.dirty_bytes = 6442450944\n", "notes"),
        ("# echo 6442450944 > /proc/sys/vm/dirty_bytes\n", "notes"),
        ("vm.dirty_bytes = 8589934592\n", "suspects"),
        ("vm.dirty_bytes = 0\n", "suspects"),
        ("vm.dirty_background_bytes = 6442450944\n", "suspects"),
        ("There were 6 GB of dirty pages.\n", "suspects"),
    ],
)
def test_a_limit_on_dirty_data(setting: str, effect: str) -> None:
    found = _written(160, 256, "40g", setting)
    assert (_effect(found), found.verdict) == (effect, "unproven" if effect == "notes" else "suspect")
    assert any("data is dirty" in known for known in found.known) is (
        "/" in setting or "bytes = 8" in setting or effect == "notes"
    )


def test_fast_copies_affect_only_latencies_if_the_dirty_limit_is_small() -> None:
    command = "fio --name=w --filename=/srv/f --rw=write --bs=8k --size=100g --ioengine=psync\n"
    text = command + header("w", "write", 8192, "psync") + block("w", "write", 220_000, 60, 8192, p50_us=3)
    (alone,), (limited,) = (
        audit_text("post", setting + text, Context()) for setting in ("", "vm.dirty_bytes = 1073741824\n")
    )
    assert (alone.verdict, limited.verdict, limited.verdicts["p50"]) == ("suspect", "unproven", "suspect")


@pytest.mark.parametrize(
    ("size", "seconds", "rw", "verdict"),
    [("30g", 192, "write", "unproven"), ("20g", 128, "write", "suspect"), ("30g", 192, "rw", "suspect")],
)
def test_zfs_keeps_only_a_few_gib_of_unwritten_data(size: str, seconds: float, rw: str, verdict: str) -> None:
    command = f"fio --name=w --filename=/tank/f --rw={rw} --bs=1m --size={size} --ioengine=psync --direct=1\n"
    body = header("w", rw, MIB, "psync") + block("w", "write", 160, seconds, MIB, clat_us=6250)
    (found,) = audit_text("post", command + body, Context(file_system="zfs"))
    assert (found.verdict, "OpenZFS up to 2.2 ignores" in str(found.findings)) == (verdict, True)


def test_writes_as_fast_as_copies_may_be_left_in_the_ram_of_a_large_machine() -> None:
    assert _effect(_written(900, 180, "160g")) == "suspects"


@pytest.mark.parametrize(("rate", "agrees"), [(160.0, True), (60.0, False), (400.0, False)])
def test_iostat_above_the_command_counts_only_if_it_agrees(rate: float, agrees: bool) -> None:
    rows = "iostat -x 5 in the other window:\n\n" + _IOSTAT.format(rate=rate * 1024) * 4
    found = _written(160, 250, "40g", rows)
    assert (found.verdict == "unproven") is agrees
    assert any("iostat" in known for known in found.known) is agrees


_KUBESTR = """FIO version - fio-3.34
Global options - ioengine=libaio verify=0 direct={direct} gtod_reduce=

JobName: w
  blocksize=64K filesize=1G iodepth=16 rw=randwrite
write:
  IOPS=1200.500000 BW(KiB/s)=76832
"""


@pytest.mark.parametrize(("direct", "rules"), [("", set()), ("1", set()), ("0", {"write-without-sync"})])
def test_kubestr_shows_direct_only_if_it_is_a_global_option(direct: str, rules: set[str]) -> None:
    (found,) = audit_text("post", _KUBESTR.format(direct=direct), Context())
    assert {finding.rule for finding in found.findings if finding.effect == "suspects"} == rules
    assert any("direct setting" in gap for gap in found.missing) is (direct == "")


@pytest.mark.parametrize(
    ("block_kib", "count", "seconds", "rate", "effect"),
    [
        (4, 128, "13.1072", "40.0 kB/s", "notes"),
        (4, 128, "0.05", "10.5 MB/s", "suspects"),
        (4, 1, "0.10", "41.0 kB/s", "suspects"),
        (1024, 128, "30.0", "4.5 MB/s", "notes"),
        (1024, 128, "20.0", "6.7 MB/s", "suspects"),
        (1024, 129, "30.0", "4.5 MB/s", "suspects"),
        (1024, 900, "234.0", "4.0 MB/s", "notes"),
        (1024, 900, "200.0", "4.7 MB/s", "suspects"),
        (1024, 1300, "234.0", "5.8 MB/s", "suspects"),
    ],
    ids=[
        "each write was slow",
        "all writes were fast",
        "a single write",
        "128 MiB",
        "128 MiB, faster",
        "129 MiB",
        "4 minutes",
        "more than 3 minutes",
        "4 minutes, faster",
    ],
)
def test_writes_that_took_long_waited_for_the_disk(
    block_kib: int, count: int, seconds: str, rate: str, effect: str
) -> None:
    size = block_kib * count * 1024
    (found,) = audit_text(
        "post",
        f"$ dd if=/dev/urandom of=/mnt/card/a bs={block_kib}k count={count}\n{count}+0 records in\n"
        f"{count}+0 records out\n{size} bytes ({size // 1000} kB) copied, {seconds} s, {rate}\n",
        Context(),
    )

    assert _effect(found) == effect


@pytest.mark.parametrize(("option", "effect"), [("", "notes"), (" --rate_iops=10", "suspects")])
def test_a_rate_limit_explains_slow_buffered_writes(option: str, effect: str) -> None:
    assert _effect(_written(0.5, 100, "50m", options=option)) == effect


@pytest.mark.parametrize(
    ("gib", "kib_per_s", "effect"),
    [(96, 410_000, "notes"), (80, 410_000, "suspects"), (96, 900_000, "suspects")],
    ids=["most of it left the RAM", "may be in the RAM of a server", "as fast as copies"],
)
def test_iozone_writes_each_file_once(gib: int, kib_per_s: int, effect: str) -> None:
    row = f"{gib << 20:>16}{64:>8}{kib_per_s:>9}{kib_per_s:>9}{500_000:>9}{500_000:>9}"
    text = f"$ iozone -s {gib}g -r 64k -i 0 -i 1\n{'KB':>16}  reclen    write  rewrite     read   reread\n{row}\n"
    writes = [found for found in audit_text("post", text, Context()) if "write" in found.figures.directions]

    assert [_effect(found) for found in writes] == [effect] * 2


def test_data_that_is_written_again_may_stay_in_ram_for_long() -> None:
    again = " --time_based --runtime=300"
    assert _effect(_written(4, 300, "300m", options=again)) == "suspects"
    assert _effect(_written(4, 300, "1200m")) == "notes"
