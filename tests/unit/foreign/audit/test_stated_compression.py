"""Sentences that say that the file system compresses, next to results of data that compresses well."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_BONNIE = """\
Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
crate           96G   141  99 512345  88 301234  71   402  99 934567  93 812.4  19
"""
_SYSBENCH = """\
sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)
128 files, 256MiB each
32GiB total file size
Block size 16KiB
Doing random read test
File operations:
    reads/s:                      4120.11
    writes/s:                     0.00
    fsyncs/s:                     0.00
Throughput:
    read, MiB/s:                  64.38
    written, MiB/s:               0.00
"""
_DD = (
    "$ dd if=/dev/zero of=/pond/f bs=1M count=20000 conv=fdatasync\n20971520000 bytes (21 GB) copied, 15 s, 1.4 GB/s\n"
)
_FIO = (
    "$ fio --name=w --filename=/pond/f --rw=write --bs=4k --size=20g --end_fsync=1 --ioengine=psync\n"
    "w: (groupid=0, jobs=1): err= 0: pid=1: Sat Jul 14 14:34:07 2018\n"
    "  write: IOPS=40.0k, BW=156MiB/s (164MB/s)(20.0GiB/131072msec)\n"
)
_RULES = {"default-buffer-compressible", "zero-buffers", "compressed-reads"}


def _doubted(text: str) -> list[bool]:
    return [
        any(each.rule in _RULES and each.effect == "suspects" for each in audited.findings)
        for audited in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "All tests ran with LZ4 compression enabled.",
        "lz4-compressed dataset",
        "The pool has compression set to zstd-3.",
        "Datensatz mit LZ4-Kompression",
        "启用 LZ4 压缩",
    ],
)
def test_data_that_compresses_well_is_suspect_if_the_text_says_that_it_is_compressed(sentence: str) -> None:
    assert _doubted(f"{sentence}\n\n{_BONNIE}") == [True] * 4
    assert _doubted(f"{sentence}\n\n{_SYSBENCH}") == [True]
    assert _doubted(f"{sentence}\n\n{_DD}") == [True]


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "LZ4 compression is off.",
        "The dataset has no LZ4 compression.",
        "With LZ4 compression.\nThen I measured without compression.",
        "LZ4 compression first, then ZSTD compression.",
        "LZ4 compression speed is 4 GB/s per core.",
        "未启用 LZ4 压缩",
        "lz4 was faster than zstd",
    ],
)
def test_a_text_that_compares_or_denies_compression_says_nothing(sentence: str) -> None:
    assert not any(_doubted(f"{sentence}\n\n{_BONNIE}{_DD}"))


def test_a_sentence_does_not_apply_to_data_of_fio_whose_compressibility_depends_on_the_job() -> None:
    assert not any(_doubted(f"All tests ran with LZ4 compression enabled.\n\n{_FIO}"))


def test_files_of_another_program_are_not_laid_out_by_fio() -> None:
    (audited,) = audit_text("post", f"lz4-compressed dataset\n\n{_SYSBENCH}", Context())
    (message,) = (each.message for each in audited.findings if each.rule == "zero-buffers")
    assert message == (
        "the job reads zeros that sysbench fileio has written, which this target compresses to almost nothing"
    )
