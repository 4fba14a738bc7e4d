"""Functions, branches and searches in shell scripts that lint must not misread."""

import pytest

from poolproof.foreign.lint.check import lint
from tests.unit.foreign.lint.making import rules, said, source

_OPTIONS = "--name=a --directory=/mnt --bs=1m --size=8g"
_UNSYNCED = "write-without-sync"


def test_a_loop_over_an_empty_array() -> None:
    text = f'pids=()\nfor pid in "${{pids[@]}}"; do wait $pid; done\nfio {_OPTIONS} --rw=write\n'
    assert _UNSYNCED in rules(text, name="bench.sh")


@pytest.mark.parametrize("program", ["command fio", "/usr/local/bin/fio"])
def test_a_function_with_the_name_fio(program: str) -> None:
    """Its calls add to the options in the function; they are not commands of their own."""
    text = f'fio() {{\n  {program} {_OPTIONS} "$@"\n}}\nfio --rw=write --bs=4k\n'
    assert rules(text, name="bench.sh") >= {_UNSYNCED, "sequential-iops"}
    assert _UNSYNCED not in rules(text.replace("--rw=write", "--rw=randread"), name="bench.sh")
    assert "refused-by-fio" in rules("fio --rw=write --bs=4k --size=1g\n", name="bench.sh")


@pytest.mark.parametrize("search", ["pgrep -f", "sudo pkill -f", "if pgrep -f", "grep -q"])
def test_a_search_for_a_command_is_not_a_call(search: str) -> None:
    assert rules(f"{search} 'fio {_OPTIONS} --rw=write'\n", name="bench.sh") == {"no-job"}
    assert _UNSYNCED in rules(f"ssh host 'fio {_OPTIONS} --rw=write'\n", name="bench.sh")


def test_options_that_depend_on_a_branch() -> None:
    text = (
        'if [ -d "$1" ]; then\n  TARGET="--directory=$1"\nelse\n  TARGET="--filename=$1"\nfi\n'
        "fio --name=a --rw=read --bs=1m --size=8g --numjobs=4 --direct=1 $TARGET\n"
    )
    found = rules(text, name="bench.sh")
    assert "shared-file-numjobs" in found
    assert "shared-file-numjobs" not in rules(text.replace("--filename", "--directory"), name="bench.sh")
    computed = text.replace('"--filename=$1"', "$(options)")
    assert "shared-file-numjobs" not in rules(computed, name="bench.sh")


def test_options_that_change_between_two_commands() -> None:
    """The second value does not belong to the first command, so lint does not combine them."""
    text = (
        'T="--directory=/a"\nfio --name=a --rw=read --bs=1m --size=8g --numjobs=4 --direct=1 $T\n'
        'T="--filename=/b"\nfio --name=b --rw=read --bs=1m --size=8g --numjobs=1 --direct=1 $T\n'
    )
    assert "shared-file-numjobs" not in rules(text, name="bench.sh")


def test_a_variable_with_its_default() -> None:
    text = f"RW=${{RW=write}}\nfio {_OPTIONS} --rw=$RW\n"
    assert _UNSYNCED in rules(text, name="bench.sh")
    assert _UNSYNCED not in rules(text.replace("=write", "=read"), name="bench.sh")


@pytest.mark.parametrize(("value", "word"), [("$FILE", ""), ("/dev/nvme0n1", "one device"), ("/mnt/f", "one file")])
def test_a_file_with_an_unknown_path_is_not_called_a_device(value: str, word: str) -> None:
    text = f"fio --name=a --filename={value} --rw=read --bs=1m --size=8g --numjobs=4 --direct=1 --readonly\n"
    [found] = [each for each in lint(source(text, "bench.sh")) if each.rule == "shared-file-numjobs"]
    assert (word or "same filename") in found.message
    assert ("device" in found.message) == (word == "one device")


def test_eval_reads_quotes_in_a_variable() -> None:
    text = "C=\"fio --name='my job' --directory=/mnt --rw=write --bs=1m --size=8g\"\neval $C\n"
    assert [rule for _, _, rule in said(text, name="bench.sh")] == [_UNSYNCED]


def test_files_in_different_variables_are_different_files() -> None:
    text = "[global]\nrw=write\nbs=1m\nsize=4g\nend_fsync=1\n[a]\nfilename=${A}\n[b]\nfilename=${B}\n"
    assert "shared-file-numjobs" not in rules(text)
    assert "shared-file-numjobs" in rules(text.replace("${B}", "${A}"))
    folders = text.replace("filename=", "filename=f\ndirectory=")
    assert "shared-file-numjobs" not in rules(folders)
    assert "shared-file-numjobs" in rules(folders.replace("${B}", "${A}"))


def test_a_loop_over_many_values() -> None:
    sizes = " ".join(f"{2**power}K" for power in range(20))
    text = f"for bs in {sizes}; do\n  fio --name=a --filename=/mnt/f --rw=write --bs=$bs --size=8g --direct=1\ndone\n"
    assert "unknown-variable" not in rules(text, name="bench.sh")
    assert "unknown-variable" in rules(text.replace(" 2K", " 2K $more"), name="bench.sh")


@pytest.mark.parametrize(("name", "is_path"), [("$DIR/a", True), ("${DIR}/a", True), ("/srv/a", True), ("$a", False)])
def test_a_path_in_a_variable_as_the_name_of_a_job(name: str, is_path: bool) -> None:
    text = f"fio --name={name} --rw=randread --size=8g --direct=1\n"
    assert ("device-in-name" in rules(text, name="bench.sh")) == is_path
    assert "device-in-name" not in rules(f"{text.strip()} --filename=/mnt/f\n", name="bench.sh")


@pytest.mark.parametrize(
    ("program", "severity"),
    [("fio", "error"), ("/usr/bin/fio", "error"), ("./fio-appends/fio", "note"), ("$DIR/fio", "note")],
)
def test_an_option_of_another_build_of_fio(program: str, severity: str) -> None:
    text = f"{program} --name=a --rw=randread --size=8g --direct=1 --zone_append=1\n"
    found = [each for each in said(text, name="bench.sh") if each[2] in ("unknown-option", "refused-by-fio")]
    assert [each[1] for each in found] == [severity]


@pytest.mark.parametrize(
    "run",
    [
        "docker run --rm -v /mnt:/mnt --entrypoint=fio me/image:1.5",
        "docker run --entrypoint fio --name bench -e X=1 me/image",
        "sudo podman run --entrypoint=/usr/bin/fio -it image",
    ],
)
def test_fio_as_the_entry_point_of_a_container(run: str) -> None:
    assert _UNSYNCED in rules(f"{run} {_OPTIONS} --rw=write\n", name="bench.sh")
    assert _UNSYNCED not in rules(f"{run} {_OPTIONS} --rw=write --end_fsync=1\n", name="bench.sh")
    assert rules(
        f"{run.replace('/usr/bin/fio', 'sh').replace('fio', 'sh')} {_OPTIONS} --rw=write\n", name="bench.sh"
    ) <= {"no-job"}


def test_optional_words_in_a_description_of_the_usage() -> None:
    text = f"fio {_OPTIONS} --rw=write [--debug=io,file] [--output FILE]\n"
    assert rules(text, name="usage.md") == {_UNSYNCED}
    assert "no-job" in rules(text.replace("[--output FILE]", "my.fio"), name="usage.md")


def test_a_finding_after_a_loop_does_not_name_the_loop() -> None:
    loop = f"for x in 1 2; do\n  fio {_OPTIONS} --rw=write --output=$x --end_fsync=1\ndone\n"
    text = f"{loop}fio {_OPTIONS} --rw=write\n"
    [found] = [each for each in lint(source(text, "bench.sh")) if each.rule == _UNSYNCED]
    assert found.line == 4 and "x=1" not in found.message
    inside = text.replace("--end_fsync=1", "--fsync=$x").replace("1 2", "0 1")
    assert any("x=0" in each.message for each in lint(source(inside, "bench.sh")) if each.line == 2)


_W = "fio --name=w --rw=write --bs=1m --size=4g --filename="
_R = "fio --name=r --rw=read --bs=1m --size=4g --filename="


@pytest.mark.parametrize("path", ["$1/file", "$FILE/a.b", "${FILE}.bin"])
def test_two_commands_with_the_same_unknown_file(path: str) -> None:
    start = "FILE=$(mktemp)\n"
    assert "read-after-write" in rules(f"{start}{_W}{path}\n{_R}{path}\n", name="bench.sh")
    assert "read-after-write" not in rules(f"{start}{_W}{path}\n{_R}{path}2\n", name="bench.sh")
    assert "unwritten-read" in rules(f"{start}truncate -s 4g {path}\n{_R}{path}\n", name="bench.sh")
    assert "unwritten-read" not in rules(f"{start}truncate -s 4g {path}2\n{_R}{path}\n", name="bench.sh")


def test_two_commands_with_an_unknown_file_or_device() -> None:
    """A device loses its cached pages when it is closed, so only what does not depend on them is reported."""
    assert "read-after-write" not in rules(f"{_W}$1\n{_R}$1\n", name="bench.sh")
    assert "unwritten-read" in rules(f"blkdiscard $1\n{_R}$1\n", name="bench.sh")


@pytest.mark.parametrize(
    "text",
    [
        f"FILE=$(mktemp)\n{_W}$FILE/a\nFILE=$(mktemp)\n{_R}$FILE/a\n",
        f"for FILE in *; do\n{_W}$FILE/a\ndone\nfor FILE in b*; do\n{_R}$FILE/a\ndone\n",
        f"w() {{\n{_W}$1/a\n}}\nr() {{\n{_R}$1/a\n}}\nw $A; r $B\n",
    ],
)
def test_a_variable_whose_file_may_change(text: str) -> None:
    assert "read-after-write" not in rules(text, name="bench.sh")


def test_a_function_that_evaluates_a_command_with_quotes() -> None:
    text = (
        'args="\n  --directory /mnt \\\n  -filename=test -name=\\"FIO test\\" -size=8g"\n'
        'run() {\n  cmd="fio $args $1"\n  echo $cmd\n  eval $cmd\n}\nrun "-rw=write -bs=1m"\n'
    )
    assert rules(text, name="bench.sh") == {_UNSYNCED}
    assert rules(text.replace("-bs=1m", "-bs=1m -end_fsync=1"), name="bench.sh") == set()


def test_a_function_that_gets_fewer_arguments() -> None:
    text = f"run() {{\n  fio {_OPTIONS} --rw=$1 $2 ${{3:---group_reporting}}\n}}\nrun write\nrun write --end_fsync=1\n"
    (found,) = lint(source(text, "bench.sh"))
    assert (found.rule, found.message[-29:]) == (_UNSYNCED, "(with the arguments on line 4)"[-29:])
    unknown = text.replace("run write\n", 'run write "$@"\n', 1)
    assert _UNSYNCED not in rules(unknown, name="bench.sh")


@pytest.mark.parametrize("end", ["exit", "  exit 0"])
def test_commands_after_the_end_of_a_script(end: str) -> None:
    text = f"#!/bin/sh\nfio {_OPTIONS} --rw=read\n{end}\nfio {_OPTIONS} --rw=write\n"
    assert rules(text, name="bench.sh") == set()
    for may_go_on in (f"if x; then\n{end}\nfi", f"x ||\n{end}", f"f() {{\n{end}\n}}", f"(\n{end}\n)"):
        assert _UNSYNCED in rules(text.replace(end, may_go_on), name="bench.sh")


def test_a_job_file_to_which_a_script_appends() -> None:
    text = "grep size config > a.fio\nprintf '[w]\\nrw=write\\nbs=1m\\n' >> a.fio\nfio a.fio\n"
    assert rules(text, name="bench.sh") == {"unknown-variable"}
    assert _UNSYNCED in rules(text.replace(">>", ">"), name="bench.sh")


def test_a_command_that_fio_refuses_runs_no_job_file() -> None:
    assert rules(f"fio {_OPTIONS} --rw=read --readnoly job.fio\n", name="bench.sh") == {"refused-by-fio"}
    assert rules("fio --eta=never job.fio\n", name="bench.sh") == {"no-job"}


_DIRECT = "fio --name=a --filename=/mnt/f --rw=read --direct=1 --bs=1m --size=8g --numjobs=$jobs"


def test_a_variable_that_is_set_again_further_down() -> None:
    text = f"jobs=1\n{_DIRECT}\njobs=8\n{_DIRECT}\n"
    assert said(text, name="a.sh") == [(4, "warning", "shared-file-numjobs")]
    for changed in (f"for i in 1 2; do\n{_DIRECT}\njobs=8\ndone\n", f"run() {{\n{_DIRECT}\n}}\nrun\njobs=8\n"):
        assert said(f"jobs=1\n{changed}", name="a.sh") == [(3, "note", "unknown-variable")]


_TWO_LOOPS = (
    "first() {\n rws=(read randread)\n for rw in ${rws[@]}; do\n  fio --name=a --filename=/mnt/f --rw=$rw --size=8g\n"
    " done\n}\nsecond() {\n rws=(write)\n for rw in ${rws[@]}; do\n"
    "  fio --name=b --filename=/mnt/f --rw=$rw --size=8g\n done\n}\n"
)


def test_loops_with_the_same_variable_have_their_own_values() -> None:
    called = f"{_TWO_LOOPS}first\nsecond\n"
    assert [line for line, _, rule in said(called, name="a.sh") if rule == "write-without-sync"] == [10]
    swapped = called.replace("(read randread)", "(read randwrite)")
    found = [each for each in lint(source(swapped, "a.sh")) if each.rule == "write-without-sync"]
    assert [each.line for each in found] == [4, 10]
    assert found[0].message.rpartition(" (")[2] == "with rw=randwrite)"
    assert "with rw" not in found[1].message


def test_a_later_loop_runs_after_an_earlier_one() -> None:
    call = "  fio --name=a --filename=/mnt/f --rw=$rw --bs=$bs --size=1000g --runtime=60 --direct=1 {}\ndone; done\n"
    read = "for rw in read; do for bs in 4k 1m; do\n" + call.format("")
    write = "for rw in randwrite; do for bs in 4k 8k; do\n" + call.format("--norandommap --time_based")
    assert "unwritten-read" not in rules(f"{read}{write}", name="a.sh")
    assert "unwritten-read" in rules(f"{write}{read}", name="a.sh")
    again = "  fio --name={0} --filename=/mnt/f --rw={0} --bs=$bs --size=1g\n"
    both = f"for bs in 4k 8k; do\n{again.format('read')}{again.format('write')}done\n"
    assert "read-after-write" in rules(both, name="a.sh")
    apart = both.replace("  fio --name=write", "done\nfor bs in 1m; do\n  fio --name=write")
    assert "read-after-write" not in rules(apart, name="a.sh")


@pytest.mark.parametrize(("shift", "is_told"), [("shift 2", False), ("", True)])
def test_the_default_of_an_argument_after_shift(shift: str, *, is_told: bool) -> None:
    """`-size` may come without a value, but a command with its default is not what the script runs."""
    text = f"size=${{2:-.}}\n{shift}\nfio --name=a --filename=/mnt/f --rw=read --direct=1 --size=$size\n"
    assert ("refused-by-fio" in rules(text, name="a.sh")) is is_told


def test_a_function_that_is_never_called_writes_nothing() -> None:
    write = "prepare() {\n fio --name=w --filename=/mnt/f --rw=write --size=1g --bs=1m\n}\n"
    read = "fio --name=r --filename=/mnt/f --rw=read --size=1g --bs=1m\n"
    assert "read-after-write" not in rules(f"{write}{read}", name="a.sh")
    assert "read-after-write" in rules(f"{write}prepare\n{read}", name="a.sh")


def test_a_command_in_a_variable_drops_the_caches() -> None:
    text = (
        "drop='sync && echo 3 > /proc/sys/vm/drop_caches'\n"
        "fio --name=w --filename=/mnt/f --rw=write --size=1g --bs=1m\n{}\n"
        "fio --name=r --filename=/mnt/f --rw=read --size=1g --bs=1m\n"
    )
    assert "read-after-write" not in rules(text.format("eval $drop"), name="a.sh")
    assert "read-after-write" in rules(text.format("eval $other"), name="a.sh")


def test_the_same_note_on_several_lines_is_one_finding() -> None:
    call = "fio --name=a --filename=/mnt/f --rw=randread --direct=1 --size=9g --gtod_reduce=1\n"
    (found,) = lint(source(3 * call, "a.sh"))
    assert found.line == 1 and found.message.endswith("(also on lines 2 and 3)")
    unsynced = "fio --name=a --filename=/mnt/f --rw=randwrite --size=9g\n"
    assert [line for line, _, _ in said(2 * unsynced, name="a.sh")] == [1, 2]


def test_a_loop_with_too_many_combinations() -> None:
    """Each variable is varied from its first and from its last value."""
    text = (
        "for d in 1 2 4 8 16 32 64 128; do\nfor rw in randwrite randread read write; do\nfor s in 8g 16g; do\n"
        "fio --name=a --directory=/d --bs=4k --direct=1 --ioengine=libaio --iodepth=$d --rw=$rw --size=$s\n"
        "done\ndone\ndone\n"
    )
    assert "sequential-iops" in rules(text, name="bench.sh")
    assert "sequential-iops" not in rules(text.replace(" read write;", " randrw;"), name="bench.sh")


@pytest.mark.parametrize("step", ['ARGS="$ARGS {}"', 'ARGS="${{ARGS}} {}"', 'ARGS+=" {}"'])
def test_options_that_are_added_step_by_step(step: str) -> None:
    text = "\n".join(['ARGS="--name=a --directory=/mnt"', *map(step.format, ("--bs=1m --size=8g", "--rw=write"))])
    assert rules(f"{text}\nfio $ARGS\n", name="bench.sh") == {_UNSYNCED}
    assert rules(f"{text}\n{step.format('--end_fsync=1')}\nfio $ARGS\n", name="bench.sh") == set()
    in_loop = f"{text}\nfor i in 1 2; do\n{step.format('--end_fsync=1')}\ndone\nfio $ARGS\n"
    assert rules(in_loop, name="bench.sh") == {"unknown-variable"}
    used_before = f"{text}\nfio $ARGS\n{step.format('--end_fsync=1')}\nfio $ARGS\n"
    assert rules(used_before, name="bench.sh") == {"unknown-variable"}


@pytest.mark.parametrize("condition", ['[ "$1" = sync ]', "[ $N -gt 1 ]", '[[ -n "$SYNC" ]]'])
def test_an_option_that_a_branch_adds(condition: str) -> None:
    text = (
        'N=0\nARGS="--name=a --directory=/mnt --bs=1m --size=8g"\n'
        f'if {condition}; then\n  ARGS="$ARGS --end_fsync=1"\nfi\nARGS="$ARGS --rw=write"\nfio $ARGS\n'
    )
    assert rules(text, name="bench.sh") == {_UNSYNCED}
    assert (
        rules(text.replace("--end_fsync=1", "").replace("--rw=write", "--rw=write --end_fsync=1"), name="b.sh") == set()
    )


def test_branches_that_each_add_options_to_a_variable() -> None:
    text = (
        'ARGS="--direct=1 --bs=4k"\nif [[ $1 == blk ]]; then\n  ARGS="$ARGS --name=b --filename=$2 --rw=randread"\n'
        'elif [[ $1 == fs ]]; then\n  ARGS="$ARGS --name=f --directory=/d --rw=randread --size=8g"\n'
        "else\n  echo usage\n  exit 1\nfi\nfio $ARGS\n"
    )
    assert rules(text, name="bench.sh") <= {"unknown-variable", "refused-by-fio"}
    assert all(each.severity == "note" for each in lint(source(text, "bench.sh")))
    known = text.replace('ARGS="--direct', 'set -- fs\nARGS="--direct').replace("$1", "fs")
    assert rules(known, name="bench.sh") == set()
    assert "write-without-sync" in rules(
        known.replace("--direct=1", "--rw=write").replace("randread", "write"), name="b.sh"
    )


@pytest.mark.parametrize("program", ["log", "log_info", "info"])
def test_a_message_about_a_command(program: str) -> None:
    assert rules(f'{program} "Command: fio {_OPTIONS} --rw=write"\n', name="bench.sh") == {"no-job"}
