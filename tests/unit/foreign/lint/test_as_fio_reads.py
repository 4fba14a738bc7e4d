"""Lint interprets words, loops and comments in the same way as fio and the shell."""

import pytest

from poolproof.evidence.model import Target
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.model import Diagnostic
from tests.unit.foreign.lint.making import KnownTarget, source

_EXT4 = KnownTarget(Target("ext4", ram_bytes=8 * 1024**3))


def _found(text: str, rule: str) -> list[Diagnostic]:
    return [each for each in lint(source(text), _EXT4) if each.rule == rule]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("-end-fsync=1", "fio reads `-end-fsync=1` as --eta=nd-fsync=1; end_fsync stays at its default"),
        ("-rwfio", "fio reads `-rwfio` as --readonly --warnings-fatal --append-terse=io"),
        ("-mb", "fio reads `-mb` as --minimal --bandwidth-log"),
    ],
)
def test_letters_after_one_dash(word: str, message: str) -> None:
    found = _found(f"fio --name=a --rw=read --size=1g --direct=1 {word}\n", "misread-by-fio")
    assert [each.message for each in found] == [message]


@pytest.mark.parametrize("word", ["--end-fsync=1", "-nothing=1", "-iodpeth=4", "-szie=4m"])
def test_words_that_end_fio(word: str) -> None:
    text = f"fio --name=a --rw=read --size=1g --direct=1 {word}\n"
    assert not _found(text, "misread-by-fio")
    assert _found(text, "refused-by-fio") or _found(text, "unknown-option")


def test_a_missing_fsync_is_seen_behind_the_wrong_dash() -> None:
    assert _found("fio --name=a --rw=write --bs=1m --size=1g -end-fsync=1\n", "write-without-sync")
    assert not _found("fio --name=a --rw=write --bs=1m --size=1g -end_fsync=1\n", "write-without-sync")


@pytest.mark.parametrize(
    ("options", "is_refused"),
    [("--readonly --name=a --rw=randwrite", True), ("--name=a --rw=rw --readonly", True),
     ("--readonly --name=a --rw=randread", False)],
)  # fmt: skip
def test_readonly_refuses_writers(options: str, is_refused: bool) -> None:
    assert bool(_found(f"fio {options} --size=1g --direct=1\n", "refused-by-fio")) == is_refused


def test_a_missing_space() -> None:
    found = _found("fio --name=a --rw=read --size=1g --direct=1 --numjobs=4--group_reporting\n", "misread-by-fio")
    assert [each.fix for each in found] == ["put a space before --group_reporting"]
    assert not _found("fio --name=a --rw=read --size=1g --direct=1 --numjobs=4 --group_reporting\n", "misread-by-fio")


@pytest.mark.parametrize(
    ("line", "is_cut"),
    [
        ("filename=/dev/a;/dev/b", True),
        ("filename=/dev/a:/dev/b", False),
        ("filename=/dev/a ; the first disk", False),
        ("bs=4k;four", False),
        ("exec_prerun=sync; echo 3 > /proc/sys/vm/drop_caches", True),
        ("exec_prerun=sync && echo 3 > /proc/sys/vm/drop_caches", False),
    ],
)
def test_a_comment_inside_a_value(line: str, is_cut: bool) -> None:
    assert bool(_found(f"[a]\nrw=read\nsize=1g\ndirect=1\n{line}\n", "misread-by-fio")) == is_cut


def test_the_values_of_a_loop_are_known() -> None:
    script = "for bs in 4k 1m; do\nfio --name=a --rw=read --bs=$bs --size=64g --filename=/mnt/f\ndone\n"
    assert not _found(script, "unknown-variable")
    (found,) = _found(script, "sequential-iops")
    assert found.message.endswith("(with bs=4k)")
    assert not _found(script.replace("4k 1m", "64k 1m"), "sequential-iops")
    assert _found(script.replace("4k 1m", "$SIZES"), "unknown-variable")


@pytest.mark.parametrize(
    "loop", ["for d in 1 32", "for d in $(seq 1 31 32)", "for d in {1..32..31}",
             "DEPTHS=(1 32)\nfor d in ${DEPTHS[@]}", 'DEPTHS=(1 32)\nfor d in "${DEPTHS[@]}"',
             'DEPTHS="1 32"\nfor d in $DEPTHS'],
)  # fmt: skip
def test_the_forms_of_a_loop(loop: str) -> None:
    text = f"{loop}; do fio --name=a --rw=randread --iodepth=$d --size=1g --direct=1 --filename=/dev/sdb; done\n"
    (found,) = _found(text, "iodepth-with-sync-engine")
    assert found.message.endswith("(with d=32)")


_WRITE = "fio --name=w --rw=write --bs=1m --size=1g --filename=/mnt/f"
_READ = "fio --name=r --rw=read --bs=1m --size=1g --filename=/mnt/f"


@pytest.mark.parametrize(
    ("script", "is_warm"),
    [
        (f"{_WRITE}\n{_READ}\n", True),
        (f"{_WRITE} --end_fsync=1\n{_READ}\n", False),
        (f"{_WRITE}\nsync; echo 3 > /proc/sys/vm/drop_caches\n{_READ}\n", False),
        (f"{_WRITE}\n# \f\f\nsync; echo 3 > /proc/sys/vm/drop_caches\n{_READ}\n", False),
        (f"{_WRITE}\n{_READ} --direct=1\n", False),
        (f"{_READ}\n{_WRITE}\n", False),
        ("for rw in write read; do fio --name=$rw --rw=$rw --bs=1m --size=1g --filename=/mnt/f; done\n", True),
    ],
)
def test_commands_of_one_script_share_a_file(script: str, is_warm: bool) -> None:
    assert bool(_found(script, "read-after-write")) == is_warm


def test_a_write_that_was_cut_short() -> None:
    cut = f"{_WRITE} --direct=1 --runtime=1 --end_fsync=1\n{_READ} --direct=1\n"
    assert _found(cut, "unwritten-read")
    assert not _found(cut.replace("--runtime=1", "--runtime=60"), "unwritten-read")
