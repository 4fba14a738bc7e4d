"""Values that fio refuses are errors with a line number and the nearest valid word. Accepted values are not reported.

The expected results are those of `fio --parse-only` (fio 3.33).
"""

import pytest

from poolproof.foreign.lint.check import lint
from tests.unit.foreign.lint.making import rules, source


def _refused(option: str) -> list[tuple[int, str]]:
    found = lint(source(f"[a]\nsize=1g\n{option}\n"))
    return [(each.line, each.message) for each in found if each.severity == "error"]


@pytest.mark.parametrize(
    ("option", "nearest"),
    [
        ("rw=randraed", "`randread`"), ("readwrite=wirte", "`write`"), ("rw=RANDREAD", "`randread`"),
        ("rw=trimwrit:8", "`trimwrite`"), ("rw=", "read, write"), ("ioengine=libiao", "`libaio`"),
        ("ioengine=iouring", "`io_uring`"), ("ioengine=zebra", "--enghelp"), ("direct=yes", "`direct=1`"),
        ("direct=2", "0 or 1"), ("direct=", "0 or 1"), ("time_based=true", "`time_based=1`"),
        ("iodepth=many", "whole number"), ("numjobs=x4", "whole number"), ("bs=zebra", "sizes"),
        ("bs=4k,zebra", "sizes"), ("size=10 apples", "size"), ("size=max", "size"), ("runtime=abc", "time"),
        ("end_fsync=abc", "0 or 1"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_stand(option: str, nearest: str) -> None:
    [(line, message)] = _refused(option)
    assert line == 3
    assert nearest in message


@pytest.mark.parametrize(
    "option",
    [
        "rw=randtrimwrite", "rw=randwrite:8", "rw=randwrite:8k", "rw=read:sequential", "rw=read:-8k", "rw=trimwrite",
        "readwrite=readwrite", "rw=read ", "rw=${MODE}", "rw=$mode", "ioengine=external:/opt/engine.so",
        "ioengine=/opt/engine.so", "ioengine=${ENGINE}", "direct=0", "direct=${D}", "time_based", "time_based=1",
        "group_reporting", "iodepth= 4", "iodepth=4k", "iodepth=${N}", "numjobs=$ncpus", "bs=4k,8k,", "bs=(4*1024)",
        "bs=4k-16k", "size=10%", "size=${SIZE}", "size=-1g", "size=0x100000", "size=2z", "runtime=1m", "runtime=(60*2)",
        "rwmixread=70",
    ],
)  # fmt: skip
def test_a_value_that_fio_takes(option: str) -> None:
    assert _refused(option) == []


def test_a_global_value_is_told_once_where_it_stands() -> None:
    found = lint(source("[global]\nrw=randraed\nsize=1g\n[a]\n[b]\n"))
    assert [each.line for each in found if each.severity == "error"] == [2]


def test_a_value_on_a_command_line() -> None:
    found = lint(source("fio --name=a --rw=read --bs=zebra --size=1g\n", "x.sh"))
    assert ["bs=zebra" in each.message for each in found if each.severity == "error"] == [True]


def test_an_engine_that_spdk_preloads() -> None:
    job = "[a]\nioengine={}\nthread\nrw=randread\nbs=4k\nfilename=x\n"
    assert "refused-by-fio" not in rules(job.format("spdk"))
    assert "refused-by-fio" in rules(job.format("spdq"))
