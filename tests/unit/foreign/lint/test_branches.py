"""Branches of shell scripts: those that cannot run, and those that exclude each other."""

import pytest

from poolproof.foreign.lint.check import lint
from tests.unit.foreign.lint.making import rules, said, source

_UNSYNCED = "write-without-sync"
_WRITE = "fio --name=a --filename=/mnt/f --rw=write --bs=1m --size=8g"
_SMALL = "fio --name=a --filename=/mnt/f --rw=randread --bs=64k --direct=1 --runtime=60"


@pytest.mark.parametrize(
    ("before", "condition"),
    [
        ("", "false"),
        ("", "! true"),
        ("MODE=quick", '[ "$MODE" = full ]'),
        ("MODE=quick", "[[ $MODE == *full* ]]"),
        ("MODE=quick", '[ "$MODE" != quick ]'),
        ("MODE=quick", "test -z $MODE"),
        ("N=1", "[ $N -gt 1 ]"),
        ("readonly MODE='quick'", "[ full == $MODE ]"),
    ],
)
def test_a_branch_that_cannot_run(before: str, condition: str) -> None:
    text = f"{before}\nif {condition}; then\n  {_WRITE}\nelse\n  {_WRITE} --end_fsync=1\nfi\n"
    assert rules(text, name="bench.sh") == set()
    opposite = f"{before}\nif {condition}; then\n  {_WRITE} --end_fsync=1\nelse\n  {_WRITE}\nfi\n"
    assert _UNSYNCED in rules(opposite, name="bench.sh")


@pytest.mark.parametrize(
    ("before", "condition"),
    [
        ("MODE=${MODE:-quick}", '[ "$MODE" = full ]'),
        ("MODE=$1", '[ "$MODE" = full ]'),
        ('[ -n "$1" ] && MODE=quick', '[ "$MODE" = full ]'),
        ('if [ "$1" ]; then MODE=quick; fi', '[ "$MODE" = full ]'),
        ("MODE=quick", "grep -q full <<< $MODE"),
        ("", '[ "$1" = full ]'),
    ],
)
def test_a_branch_that_may_run(before: str, condition: str) -> None:
    text = f"{before}\nif {condition}; then\n  {_WRITE}\nfi\n"
    assert _UNSYNCED in rules(text, name="bench.sh")


def test_a_branch_of_a_case() -> None:
    text = f"RW=read\ncase $RW in\n  *write*) {_WRITE} ;;\n  read | randread) {_WRITE} --end_fsync=1 ;;\nesac\n"
    assert rules(text, name="bench.sh") == set()
    assert _UNSYNCED in rules(text.replace("RW=read\n", "RW=randwrite\n"), name="bench.sh")
    assert _UNSYNCED in rules(text.replace("RW=read\n", "RW=$1\n"), name="bench.sh")


@pytest.mark.parametrize("form", ['[ "$S" = 1 ] && {}', '[ "$S" = 0 ] || {}', "[[ $S -eq 1 ]] && {}"])
def test_a_command_after_a_condition(form: str) -> None:
    text = f"{form.format(_WRITE)}\n"
    assert rules(f"S=0\n{text}", name="bench.sh") == {"no-job"}
    assert _UNSYNCED in rules(f"S=1\n{text}" if "= 0" not in form else f"S=2\n{text}", name="bench.sh")


def test_a_branch_that_depends_on_the_argument_of_a_function() -> None:
    text = (
        'run() {\n  if [ "$1" = write ]; then SYNC=--end_fsync=1; else SYNC=; fi\n'
        "  fio --name=a --filename=/mnt/f --rw=$1 --bs=1m --size=8g $SYNC\n}\nrun write\n"
    )
    assert _UNSYNCED not in rules(text, name="bench.sh")
    assert _UNSYNCED in rules(text.replace('"$1" = write', '"$1" = read'), name="bench.sh")


def test_a_branch_that_depends_on_a_loop() -> None:
    text = (
        "for rw in read write; do\n  [ $rw = write ] && SYNC=--end_fsync=1 || SYNC=--direct=1\n"
        "  fio --name=a --filename=/mnt/f --rw=$rw --bs=1m --size=8g $SYNC\ndone\n"
    )
    assert _UNSYNCED not in rules(text, name="bench.sh")
    assert _UNSYNCED in rules(text.replace("--end_fsync=1", "--invalidate=1"), name="bench.sh")


def test_a_size_for_each_branch() -> None:
    text = f'if [ "$1" = small ]; then\n  SIZE=1g\nelse\n  SIZE=900g\nfi\n{_SMALL} --size=$SIZE\n'
    (found,) = lint(source(text, "bench.sh"))
    assert found.rule == "runtime-without-time-based"
    assert found.message.endswith("(with SIZE=1g)")
    assert rules(text.replace("1g", "800g"), name="bench.sh") == set()


@pytest.mark.parametrize("condition", ['-n "$1"', '-z "$SIZE"'])
def test_a_value_that_a_branch_overrides(condition: str) -> None:
    text = f"SIZE=900g\nRW=randread\nif [ {condition} ]; then\n  SIZE=1g\nfi\n{_SMALL} --size=$SIZE\n"
    assert rules(text, name="bench.sh") == {"runtime-without-time-based"}
    used = text.replace("RW=randread", f"{_SMALL} --size=$SIZE")
    assert said(used, name="bench.sh") == [(6, "note", "runtime-without-time-based")]


def test_values_of_different_branches_are_not_combined() -> None:
    text = (
        'if [ "$1" = small ]; then\n  SIZE=1g; MORE=--time_based\nelse\n  SIZE=900g; MORE=--randrepeat=0\nfi\n'
        f"{_SMALL} --size=$SIZE $MORE\n"
    )
    assert rules(text, name="bench.sh") == set()
    assert "runtime-without-time-based" in rules(text.replace("--time_based", "--thread"), name="bench.sh")


def test_a_read_and_a_write_that_exclude_each_other() -> None:
    read = _WRITE.replace("rw=write", "rw=read")
    text = f'if [ "$1" = w ]; then\n  {_WRITE}\nelse\n  {read}\nfi\n'
    assert "read-after-write" not in rules(text, name="bench.sh")
    assert "read-after-write" in rules(f"{_WRITE}\n{read}\n", name="bench.sh")


def test_a_branch_that_ends_the_script() -> None:
    text = f'SIZE=900g\nif [ -z "$1" ]; then\n  SIZE=1g\n  exit 1\nfi\n{_SMALL} --size=$SIZE\n'
    assert rules(text, name="bench.sh") == set()
    assert "runtime-without-time-based" in rules(text.replace("  exit 1\n", ""), name="bench.sh")


def test_prose_with_the_words_of_a_condition() -> None:
    text = f"If you write, then sync, or else the data is in RAM; fi is a word.\n\n    {_WRITE}\n"
    assert _UNSYNCED in rules(text, name="README.md")


def test_the_condition_of_a_branch_sets_the_variable_that_it_compares() -> None:
    """A branch for reads is not combined with writes."""
    text = (
        'MODE=${1:-read}\nif [ "$MODE" = write ]; then\n  MORE=--end_fsync=1\nelse\n  MORE=--randrepeat=0\nfi\n'
        "fio --name=a --directory=/d --bs=1m --size=8g --rw=$MODE $MORE\n"
    )
    assert rules(text, name="bench.sh") <= {"unknown-variable"}
    assert _UNSYNCED in rules(text.replace("--end_fsync=1", "--thread"), name="bench.sh")
    case = text.replace('if [ "$MODE" = write ]; then', "case $MODE in\nwrite)").replace("else", ";;\n*)")
    assert rules(case.replace("fi\n", ";;\nesac\n"), name="bench.sh") <= {"unknown-variable"}


def test_a_file_in_an_unknown_folder() -> None:
    write, read = (f"fio --name={rw} --rw={rw} --bs=1m --size=4g --filename=$F\n" for rw in ("write", "read"))
    assert "read-after-write" in rules(f"F=$DIR/a.bin\n{write}{read}", name="bench.sh")
    assert "read-after-write" in rules(f"F=$1/a.bin\n{write}{read}", name="bench.sh")
    assert "read-after-write" not in rules(f"F=$1/a.bin\nf() {{\n{write}{read}}}\nf /dev\n", name="bench.sh")
    assert "read-after-write" not in rules(f"F=$DIR/a.bin\n{write}F=$DIR/b.bin\n{read}", name="bench.sh")


def test_a_branch_may_append_to_the_options() -> None:
    text = (
        '#!/bin/bash\nARGS="--ioengine=psync --iodepth=8"\n'
        'if [ "$MODE" = w ]; then\n  ARGS+=" --rw=write --end_fsync=1"\n'
        'else\n  ARGS+=" --rw=read"\nfi\nfio --name=a --size=9g --bs=1m $ARGS\n'
    )
    assert rules(text, name="bench.sh") == {"iodepth-with-sync-engine"}
