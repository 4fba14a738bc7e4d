"""Lint interprets words, loops and comments in the same way as fio and the shell."""

import re

import pytest

from poolproof.evidence.target_facts import Target
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.model import Diagnostic
from tests.golden import Message
from tests.unit.foreign.lint.making import KnownTarget, rules, source

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
     ("--readonly --name=a --rw=randread", False), ("--readonly --name=a --rw=$rw", False)],
)  # fmt: skip
def test_readonly_refuses_writers(options: str, is_refused: bool) -> None:
    assert bool(_found(f"fio {options} --size=1g --direct=1\n", "refused-by-fio")) == is_refused


def test_a_missing_space() -> None:
    found = _found("fio --name=a --rw=read --size=1g --direct=1 --numjobs=4--group_reporting\n", "misread-by-fio")
    assert [each.fix.endswith(" --group_reporting") for each in found] == [True]
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


@pytest.mark.parametrize("element", ["${D[$i]}", "${D[${i}]}"])
def test_a_loop_over_the_indexes_of_an_array(element: str) -> None:
    job = f"fio --name=a --rw=randread --iodepth={element} --size=1g --direct=1 --filename=/dev/sdb\n"
    (found,) = lint(source(f'D=(1 32)\nfor i in "${{!D[@]}}"; do\n{job}done\n', "b.sh"))
    assert found.rule == "iodepth-with-sync-engine" and found.message.endswith("(with i=1)")
    assert not _found(f"D=(32 1)\n{job.replace(element, '${D[1]}')}", "iodepth-with-sync-engine")
    assert _found(f"D=(1 32)\n{job.replace(element, '${D[2]}')}", "unknown-variable")


def test_a_variable_that_is_set_after_a_prompt() -> None:
    call = "fio $ARGS --name=a --filename=f --rw=randread --bs=4k --size=9g\n"
    text = f'$ ARGS="--ioengine=psync --iodepth=32 --direct=1"\n$ {call}'
    assert {each.rule for each in lint(source(text, "b.sh"))} == {"iodepth-with-sync-engine"}
    assert _found(f"$ ARGS=$(cat args)\n$ {call}", "unknown-variable")


def test_the_name_of_a_log_file_may_be_unknown() -> None:
    call = "fio --name=a --filename=f --rw=randread --bs=4k --size=9g --write_bw_log=$OUT/a --log_avg_msec=1000\n"
    assert not _found(call, "unknown-variable")
    assert _found(call.replace("=f ", "=$OUT "), "unknown-variable")


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


def test_each_name_that_begins_with_global_is_shared() -> None:
    """fio compares only six letters."""
    text = "[global-settings]\nrw=write\nbs=1m\nsize=1g\nfilename=/mnt/f\n"
    assert rules(text) == {"refused-by-fio"}
    assert "write-without-sync" in rules(f"{text}[a]\n")
    assert "write-without-sync" in rules("fio --name=global2 --rw=write --bs=1m --size=1g --name=a\n", name="b.sh")


@pytest.mark.parametrize(
    ("line", "is_literal"),
    [
        ("filename=$DEV", True), ("size=${SIZE:-1g}", True), ("numjobs=$(nproc)", True), ("bs=$pagesize", False),
        ("filename=${DEV}", False), ("filename_format=$jobname.$jobnum", False), ("exec_prerun=echo $HOME", False),
        ("filename={{ dev }}", False),
    ],
)  # fmt: skip
def test_a_variable_that_fio_does_not_expand(line: str, *, is_literal: bool) -> None:
    found = [each for each in lint(source(f"[a]\nrw=read\n{line}\n")) if each.rule == "misread-by-fio"]
    assert [each.line for each in found] == ([3] if is_literal else [])
    assert "misread-by-fio" not in rules(f"fio - <<EOF\n[a]\nrw=read\n{line}\nEOF\n", name="b.sh")


def test_several_directories() -> None:
    """Only the files whose names fio generates are in the directory of the clone (measured with fio 3.33)."""
    text = "[a]\nrw=write\nbs=1m\nsize=1g\nend_fsync=1\nfilename_format=f\nnumjobs=2\ndirectory=/mnt/a:/mnt/b\n"
    assert "shared-file-numjobs" not in rules(text)
    assert "shared-file-numjobs" in rules(text.replace(":/mnt/b", ""))
    assert "shared-file-numjobs" in rules(text.replace("numjobs=2", "numjobs=3"))
    assert "shared-file-numjobs" in rules(text.replace("filename_format", "filename"))


def test_a_message_names_only_the_loop_variables_on_which_it_depends(message: Message) -> None:
    mixes, sizes = "100 95 65 50 35 5 0", "4k 8k 16k 32k 64k 128k 1m"
    each = "fio --name=a --filename=/dev/sdq --rw=randrw --rwmixread=$mix --bs=$bs --direct=1 --randrepeat=0"
    loops = f"for mix in {mixes}; do\nfor bs in {sizes}; do\n{each}\ndone\ndone\n"
    (found,) = _found(loops, "destroys-data")
    assert re.findall(r"\((with .*)\)$", message(found.message)) == ["with mix=95 or 65 or 50 or 35 or 5 or 0"]
    before = "blkdiscard /dev/sdq\nfio --name=w --filename=/dev/sdq --rw=write --direct=1 --bs=1m --size=9g\n"
    (first, *_) = _found(f"{before}{loops}", "trimmed-ssd")
    assert first.line == 2 and "with" not in first.message.rpartition("until")[2].replace("without", "")


def test_spaces_around_the_equals_sign() -> None:
    """fio 3.33 refuses `rw = read`, and reads 4 bytes for `bs = 4k`."""
    (found,) = _found("[a]\nrw=read\nbs = 4k\nsize=1g\nruntime = 30\n", "misread-by-fio")
    assert found.line == 3 and "fio reads 4 " in found.message and "bs=4k" in found.fix
    assert _found("[a]\nrw=read\nruntime = 2m\nsize=1g\n", "misread-by-fio")
    assert not _found("[a]\nrw=read\nruntime = 2s\nsize=1g\n", "misread-by-fio")
    (refused,) = _found("[a]\nrw = read\nbs=4k\nsize=1g\n", "refused-by-fio")
    assert refused.line == 2 and "space" in refused.message
    assert "misread-by-fio" not in rules("[a]\nrw=read\nbs =4k\nfilename = /mnt/4k\n")


@pytest.mark.parametrize(
    ("option", "read"),
    [
        ("runtime=60sec", "60 µs"), ("runtime=5min", "5 µs"), ("ramp_time=10secs", "10 µs"), ("timeout=2hours", "2 µs"),
        ("runtime=1.5h", "as 1 and"), ("size=1.5G", "as 1 and"), ("bs=0.5m", "as 0 and"),
        ("blocksize=1.5k", "as 1 and"),
    ],
)  # fmt: skip
def test_numbers_that_fio_reads_in_part(option: str, read: str) -> None:
    for text in (f"[a]\nrw=read\ndirect=1\n{option}\n", f"fio --name=a --rw=read --direct=1 \\\n\\\n\\\n--{option}\n"):
        (found,) = _found(text, "misread-by-fio")
        assert (found.line, found.severity) == (4, "warning")
        assert read in found.message


@pytest.mark.parametrize("option", ["runtime=60s", "runtime=5m", "runtime=90", "runtime=500ms", "size=1g", "bs=4k,8k"])
def test_numbers_that_fio_reads_in_full(option: str) -> None:
    assert not _found(f"[a]\nrw=read\ndirect=1\n{option}\n", "misread-by-fio")


@pytest.mark.parametrize(
    ("option", "is_misread"),
    [("bs=64k-2M", True), ("blocksize=4k-8k", True), ("bsrange=64k-2M", False), ("bs=64k", False), ("bs=4k,8k", False)],
)
def test_a_range_in_bs(option: str, is_misread: bool) -> None:
    """fio 3.33 starts bs=64k-2M with `(R) 64.0KiB-64.0KiB, (W) 2048KiB-2048KiB`."""
    found = _found(f"fio --name=a --rw=randread --size=1g --direct=1 --{option}\n", "misread-by-fio")
    assert bool(found) == is_misread


@pytest.mark.parametrize("path", ["/dev/null", "/dev/zero"])
def test_a_device_without_data(path: str) -> None:
    command = f"fio --name=a --rw=write --bs=4k --size=1g --filename={path}\n"
    assert rules(command, name="bench.sh") == {"volatile-target"}
    assert rules(command.replace(path, "/mnt/f"), name="bench.sh") == {"write-without-sync", "sequential-iops"}


def test_a_read_of_more_files_than_were_written() -> None:
    """fio lays out the files that did not exist, and the first read laid out the other one."""
    start = "fio --name=a --directory=/mnt --size=100g --bs=1m --direct=1 --time_based --runtime=60 --rw="
    text = f"{start}read\n{start}write\n{start}read --numjobs=4\n"
    assert "unwritten-read" not in rules(text, name="bench.sh")
    assert "unwritten-read" in rules(f"{start}write\n{start}read --numjobs=4\n", name="bench.sh")
