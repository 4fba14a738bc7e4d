"""Command lines and shell scripts: jobs, line numbers, variables, and the text around the fio command."""

import re

import pytest

from poolproof.foreign.lint.check import lint
from tests.unit.foreign.lint.making import fixed_text, rules, said, source


def _said(text: str) -> list[tuple[int, str, str]]:
    return said(text, name="bench.sh")


def _rules(text: str) -> set[str]:
    return rules(text, name="bench.sh")


def _unsynced(text: str) -> list[int]:
    """Return the lines with a finding about writes that are never synced."""
    return [line for line, _, rule in _said(text) if rule == "write-without-sync"]


def test_several_jobs_of_one_command() -> None:
    text = "fio --size=1g --bs=1m \\\n  --name=a --rw=write \\\n  --name=b --rw=write --end_fsync=1\n"
    assert _unsynced(text) == [2]


def test_prefixes_and_aliases() -> None:
    assert "runtime-without-time-based" in _rules("fio --name=a --rw=read --bs=1m --size=64m --runtime=30\n")
    assert "runtime-without-time-based" not in _rules("fio --name=a --rw=read --size=64m --timeout=30 --time_base\n")
    assert "runtime-without-time-based" in _rules("fio --name=a --readwrite=read --size=64m --timeout=30\n")
    assert _unsynced("fio --nam=a --readw=write --size=1g\n") == [1]
    assert "refused-by-fio" in _rules("fio --name=a --rw=read --size=1g --iodep=4\n")


def test_values_in_a_word_of_their_own() -> None:
    assert _unsynced("fio --name a --rw write --size 1g --bs 1m\n") == [1]


def test_what_stands_around_a_command() -> None:
    for before in ("sudo ", "time ", "LC_ALL=C ", "taskset -c 0 ", "docker run --rm image "):
        assert _unsynced(f"{before}fio --name=a --rw=write --size=1g\n") == [1], before
    for after in (" | tee log", " > out.json", " 2>&1", " && echo done", "; sleep 1", " &", " # rw=read"):
        assert _unsynced(f"fio --name=a --rw=write --size=1g{after}\n") == [1], after


def test_fio_by_its_path_or_by_a_variable() -> None:
    for program in ("/usr/local/bin/fio", "fio-3.33", "$FIO", '"${FIO_CMD}"'):
        assert _unsynced(f"{program} --name=a --rw=write --size=1g\n") == [1], program
    assert _rules("$TOOL --name=a --rw=write --size=1g\n") == {"no-job"}


def test_a_command_for_another_shell() -> None:
    assert _unsynced("\nssh host 'fio --name=a --rw=write --size=1g'\n") == [2]
    assert _unsynced('bash -c "cd /mnt && fio --name=a --rw=write --size=1g"\n') == [1]


def test_a_command_whose_output_is_kept() -> None:
    assert _unsynced("true\nx=$(fio --name=a --rw=write --size=1g | jq .)\n") == [2]
    assert _unsynced("x=`fio --name=a --rw=write --size=1g`\n") == [1]


def test_each_option_has_its_own_line() -> None:
    text = "#!/bin/sh\nfio --name=a --rw=randread \\\n  --ioengine=libaio \\\n  --size=1g --iodepth=8\n"
    assert (4, "warning", "async-engine-blocks") in _said(text)


def test_a_plain_variable_of_the_script_is_known() -> None:
    text = "SIZE=64m\nexport RUN=30\nfio --name=a --rw=read --bs=1m --size=$SIZE --runtime=${RUN}\n"
    assert _said(text) == [(3, "warning", "runtime-without-time-based")]


def test_a_variable_with_several_values_is_told_and_not_guessed() -> None:
    text = "for rw in $KINDS; do\n  fio --name=a --rw=$rw --size=1g --bs=1m\ndone\n"
    assert _said(text) == [(2, "note", "unknown-variable")]
    assert "write-without-sync" not in _rules("RW=write\nRW=read\nfio --name=a --rw=$RW --size=1g\n")


def test_arguments_that_may_hold_anything() -> None:
    assert _said('fio --name=a --rw=write --size=1g "$@"\n') == [(1, "note", "unknown-variable")]


def test_a_comment_and_a_quoted_text_are_no_commands() -> None:
    assert _rules("# fio --name=a --rw=write --size=1g\necho fio\n") == {"no-job"}
    assert _rules('echo "+ fio --name=a --rw=write --size=1g"\necho fio --name=a --rw=write\n') == {"no-job"}


def test_a_variable_that_holds_several_words() -> None:
    text = 'FIO="fio --ioengine=libaio --bs=1m"\nOPTIONS="--size=1g --rw=write"\n$FIO --name=a $OPTIONS\n'
    assert _unsynced(text) == [3]
    assert _rules(text) == {"write-without-sync"}
    assert _rules(text.replace("$OPTIONS", '"$OPTIONS"')) != {"write-without-sync"}


def test_what_a_variable_holds_is_not_mended_in_its_place() -> None:
    text = 'OPTIONS="--size=1g --bs=1m"\nfio --name=a --rw=write $OPTIONS\n'
    after = fixed_text(text, name="bench.sh")
    assert after.text == text
    assert "write-without-sync" in {each.rule for each in after.left}


@pytest.mark.parametrize("prompt", ["[ec2-user ~]$ sudo ", "[root@host ~]# ", "[me@host data]$ ", "[root@h /]# "])
def test_a_prompt_in_brackets_is_not_a_section(prompt: str) -> None:
    assert _unsynced(f"{prompt}fio --name=a --rw=write --bs=1m --size=1g\n{prompt}fio --name=b --rw=read\n") == [1]


def test_an_unknown_file_may_be_a_device() -> None:
    command = "fio --name=a --filename=$T --direct=1 --ioengine=libaio --rw=read --bs=1m --size=4g --numjobs=4\n"
    assert (1, "note", "shared-file-numjobs") in _said(command)
    assert (1, "warning", "shared-file-numjobs") in _said(command.replace("$T", "/data/f"))


def test_a_job_file_in_a_here_document() -> None:
    text = "cat > j.fio <<'EOF'\n[global]\nsize=1g\nbs=1m\n[a]\nrw=write\nEOF\nfio j.fio\n"
    assert _unsynced(text) == [6]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (r"""fio <(printf '[a]\nrw=write\nbs=1m\nsize=1g\n')""", 1),
        (r"""echo -e "[a]\nrw=write\nbs=1m\nsize=1g" | fio -""", 1),
        ("printf '%s\\n' '[a]' 'rw=write' 'bs=1m' 'size=1g' > j.fio; fio j.fio", 1),
        ("echo '[a]\nbs=1m\nrw=write\nsize=1g' > j.fio\nfio j.fio", 3),
    ],
)
def test_a_job_file_that_a_command_prints(text: str, line: int) -> None:
    assert _unsynced(f"{text}\n") == [line]
    assert fixed_text(f"{text}\n", name="bench.sh").text == f"{text}\n"


def test_a_text_that_resembles_a_job_file_is_only_printed() -> None:
    assert _rules("echo '[a]\nrw=write\nsize=1g' > job\n") == {"no-job"}


def test_a_misspelt_option() -> None:
    assert (1, "error", "refused-by-fio") in _said("fio --name=a --rw=read --size=1g --iodepht=4\n")


def test_a_script_without_fio() -> None:
    assert _said("ls -l\n") == [(1, "note", "no-job")]


def test_a_call_whose_options_are_misspelt_is_a_call() -> None:
    assert _said("fio --nmae=a --rw=read\n") == [(1, "error", "refused-by-fio")]
    assert (1, "error", "refused-by-fio") in _said("fio --name=a --rw=read --size=1g --ouput=x\n")
    assert _said("fio --quantum=1 --rw=read\n") == [(1, "error", "refused-by-fio")] * 2


@pytest.mark.parametrize("call", ["--rw=read --size=1g", "--name=global --bs=4k", "--output=x.json --bs=4k --direct=1"])
def test_options_without_a_job_name(call: str) -> None:
    (found,) = lint(source(f"fio {call}\n", "x.sh"))
    assert (found.line, found.severity, found.rule) == (1, "error", "refused-by-fio")
    assert "`--name`" in found.message and "--name=" in found.fix


@pytest.mark.parametrize("call", ["--version", "--enghelp=rbd", "--server", "--profile=act --device-names=/dev/sdb"])
def test_calls_that_need_no_job_name(call: str) -> None:
    assert not [each for each in _said(f"fio {call}\n") if each[1] == "error"]


def test_a_call_whose_options_are_unknown_may_have_a_name() -> None:
    assert not [each for each in _said('fio --rw=read "$@"\n') if each[1] == "error"]


def test_a_default_is_the_value_of_a_variable_that_the_script_does_not_set() -> None:
    call = "fio --name=a --filename=f --rw=randread --bs=4k --size=9g --direct=1 --iodepth="
    for depth in ("${QD:-32}", "${QD-32}", '"${QD:-32}"', "${1:-32}"):
        assert "iodepth-with-sync-engine" in _rules(f"{call}{depth}\n"), depth
    assert "iodepth-with-sync-engine" in _rules(f'QD="${{QD:-32}}"\n{call}$QD\n')
    assert "iodepth-with-sync-engine" not in _rules(f"QD=1\n{call}${{QD:-32}}\n")
    assert "iodepth-with-sync-engine" not in _rules(f"run() {{ {call}${{1:-32}}; }}\nrun 1\n")


@pytest.mark.parametrize("before", ["QD=$(nproc)\n", "read QD\n", "QD=4\nread QD\n", ""])
def test_an_unknown_depth_is_above_one(before: str) -> None:
    call = "fio --name=a --filename=f --rw=randread --bs=4k --size=9g --iodepth=$QD"
    for options, rule in (("--direct=1", "iodepth-with-sync-engine"), ("--ioengine=libaio", "async-engine-blocks")):
        text = f"{before}{call} {options}\n"
        (found,) = [each for each in lint(source(text, "bench.sh")) if each.rule == rule]
        assert found.severity == "note"  # it may be 1
        assert "32" not in found.message
        assert fixed_text(text, name="bench.sh").text == text  # the script chooses the depth


def test_the_name_of_a_pod_is_no_call() -> None:
    assert _rules("kubectl wait -n fio --for=condition=Ready pod/a\n") == {"no-job"}
    assert _unsynced("kubectl exec -n fio -it a -- fio --name=a --rw=write --size=1g --bs=1m\n") == [1]
    assert _unsynced("sudo -n fio --name=a --rw=write --size=1g --bs=1m\n") == [1]


def test_a_misspelt_option_is_compared_with_common_options_first() -> None:
    found = lint(source("fio --name=a --rw=read --size=1g --directio=1\n", "b.sh"))[0]
    assert "`direct`" in found.message


@pytest.mark.parametrize("variable", ["$FIO_OPTIONS", "${FIO_ARGS}", '"${FIO_JOB[@]}"'])
def test_a_variable_after_fio_contains_options(variable: str) -> None:
    assert _said(f"fio {variable} --name=a --rw=write --size=1g\n") == [(1, "note", "unknown-variable")]
    assert _said(f"sudo fio {variable}\n") == [(1, "note", "unknown-variable")]
    assert _unsynced("kubectl exec fio -- $FIO --name=a --rw=write --size=1g --bs=1m\n") == [1]


@pytest.mark.parametrize("variable", ["$fio_config", "${fio_job_file}", "$FIO_OUT"])
def test_a_job_file_in_a_variable_whose_name_contains_fio(variable: str) -> None:
    assert _rules(f"$FIO_PROG {variable} --ignore_error=,EIO --output=a\n") == {"unknown-variable"}
    assert _unsynced("$FIO_PROG --name=a --rw=write --size=1g --bs=1m\n") == [1]


def test_a_sentence_about_fio_runs_no_job_files() -> None:
    sentence = "When running fio against a zoned disk you need to set --iodepth=1 to avoid errors\n"
    assert not any("runs the job file" in each.message for each in lint(source(sentence, "a.md")))
    for command in ("fio one two three --eta=never\n", "fio one two three four.fio --eta=never\n"):
        assert any("runs the job file one" in each.message for each in lint(source(command, "a.md")))


@pytest.mark.parametrize(("option", "is_run"), [("--enghelp", False), ("--cmdhelp=bs", False), ("--eta=never", True)])
def test_a_command_that_prints_help_runs_no_job_file(option: str, *, is_run: bool) -> None:
    found = lint(source(f"fio {option} a.fio\n", "b.sh"))
    assert any("runs the job file a.fio" in each.message for each in found) is is_run


def test_a_value_after_a_space_is_not_a_job_file() -> None:
    assert _rules("fio --name=a --rw=read --size=1g --direct=1 --runtime= 60 --time_based\n") == {"refused-by-fio"}
    assert "no-job" in _rules("fio jobs60\n")


def test_a_file_whose_name_looks_like_fio() -> None:
    options = 'OPTIONS="--filename=/mnt/fio-10g --size=9g --filename /mnt/fio-10g --size 9g"\n'
    assert _rules(options + "fio $OPTIONS --name=a --rw=write --bs=1m --end_fsync=1\n") == set()
    assert _unsynced("COMMAND='fio --name=a --rw=write --size=9g'\nssh host \"$COMMAND\"\n")


def test_a_pod_or_a_container_with_the_name_fio() -> None:
    call = "fio --name=a --rw=write --bs=1m --size=9g"
    for before in ("kubectl exec -it fio -- ", "kubectl exec fio -c main -- ", "docker run --rm fio ",
                   "docker run --name fio --rm image ", "podman run --name fio --rm example.org/"):  # fmt: skip
        assert _said(f"{before}{call}\n") == _said(f"{call}\n"), before
    for name in (
        "--name fio --rw=write",
        "--name=fio --description fio --rw=write",
        "--filename=/mnt/fio --name=a --rw=write",
    ):
        assert _unsynced(f"fio --size=9g --bs=1m {name} --direct=0\n") == [1], name


def test_a_dash_of_a_word_processor_is_no_hyphen() -> None:
    for dash in ("\u2013", "\u2014"):
        (found,) = lint(source(f"fio {dash}name=a {dash}rw=read\n", "b.sh"))[:1]
        assert (found.severity, found.rule, found.fix) == ("error", "refused-by-fio", "type two hyphens: --name=a")
    assert _unsynced("fio --name=a --rw=write --size=9g --description='a \u2013 b'\n") == [1]
    assert _rules("fio --name=a --description='\u2013 b' --rw=read --bs=1m --size=9g --direct=1\n") == set()


def test_a_windows_path_of_fio_is_a_call() -> None:
    text = '.\\fio.exe -name=a -ioengine=windowsaio -direct=1 -rw=randread -size=10G -filename="Z\\:\\f" -sizee=1\n'
    assert _rules(text) == {"refused-by-fio"}


@pytest.mark.parametrize("path", ["/dev/nullb0", "/dev/zero", "/dev/null"])
def test_a_device_without_a_disk_is_reported(path: str) -> None:
    assert "volatile-target" in _rules(f"fio --name=a --filename={path} --rw=randread --bs=4k --size=1g --direct=1\n")


@pytest.mark.parametrize(("path", "is_cached"), [("/dev/ng0n1", False), ("/tmp/file", True)])
def test_a_character_device_has_no_page_cache(path: str, *, is_cached: bool) -> None:
    text = f"fio --name=a --filename={path} --rw=randread --bs=512 --size=1g --ioengine=io_uring\n"
    assert ("recordsize-mismatch" in _rules(text)) == is_cached


_SHORT = "--rw=read --bs=1m --size=1g --direct=1 --runtime=60"  # runtime-without-time-based


@pytest.mark.parametrize(
    "text",
    [
        f"((n = 1 << 4))\nfio --name=a {_SHORT}\n", f"for ((n=1; n<=8; n<<=1)); do fio --name=a$n {_SHORT}; done\n",
        f"$(which fio) --name=a {_SHORT}\n", f"`which true`; $(command -v fio) --name=a {_SHORT}\n",
        f"[Unit]\nDescription=x\n[Service]\nType=oneshot\nExecStart=/usr/bin/fio --name=a {_SHORT}\n",
        f'echo "fio --name=a {_SHORT}" | at 02:00\n', f"echo fio --name=a {_SHORT} | ssh h\n",
        f"docker run -v /mnt:/mnt me/fio:latest --name=a {_SHORT}\n",
        f'& "C:\\Program Files\\fio\\fio.exe" --name=a {_SHORT}\n',
        "fio --name=a ^\n  --rw=read --bs=1m ^\n --size=1g --direct=1 --runtime=60\n",
        "fio --name=a `\n  --rw=read --bs=1m `\n --size=1g --direct=1 --runtime=60\n",
        f"- hosts: x\n  tasks:\n  - shell: >-\n      fio --name=a\n      {_SHORT}\n    register: out\n",
        f"- command: >\n    fio --name=a --filename={{{{ dev | default('x') }}}}\n    {_SHORT}\n",
        "data:\n  a.fio: |\n    [a]\n    rw=read\n    bs=1m\n    size=1g\n    direct=1\n    runtime=60\n",
    ],
)  # fmt: skip
def test_calls_in_other_forms(text: str) -> None:
    assert "runtime-without-time-based" in _rules(text)


def test_the_lines_of_a_folded_value_are_one_command() -> None:
    text = "x:\n- shell: >\n    fio --name=a --size=1g\n    --rw=write\n    --bs=1m\n- shell: fio --name=b --rw=write\n"
    assert _unsynced(text) == [4, 6]
    assert _unsynced(text.replace("--bs=1m", "--end_fsync=1")) == [6]
    assert _unsynced("data:\n  a: |\n    [a]\n    size=1g\n    rw=write\n    bs=1m\n") == [5]


@pytest.mark.parametrize("value", ["{{ bs }}", "{{ bs | upper }}", "%%b", "%1", "%~1", "%BS%", "{}", "<size>"])
def test_a_placeholder_is_an_unknown_value(value: str) -> None:
    found = _rules(f"fio --name=a --rw=randread --bs={value} --size=1g --direct=1\n")
    assert found == {"unknown-variable"}


def test_each_unknown_variable_is_reported_once() -> None:
    call = "fio --name=a --rw=randread --direct=1 --time_based --runtime=60 --bs=$BS --size=$SIZE\n"
    text = f"{call}{call}{call.rstrip()} --iodepth=$QD\n"
    found = [each for each in lint(source(text, "b.sh")) if each.rule == "unknown-variable"]
    assert [each.line for each in found] == [1, 3]
    assert "bs=$BS and size=$SIZE" in found[0].message
    assert "iodepth=$QD" in found[1].message and "$BS" not in found[1].message
    (in_loop,) = lint(source(f"for i in 1 2; do\n{call}done\n", "b.sh"))
    assert in_loop.line == 2 and "$SIZE" in in_loop.message and "(with" not in in_loop.message


def test_a_long_list_of_unknown_values_is_cut() -> None:
    names = ("bs", "size", "iodepth", "numjobs", "runtime", "ramp_time")
    text = "[a]\nrw=randread\ndirect=1\ntime_based\n" + "".join(f"{name}=${{{name}}}\n" for name in names)
    (found,) = [each for each in lint(source(text)) if each.rule == "unknown-variable"]
    assert "bs=${bs}" in found.message and "and 2 more" in found.message and found.line == 5


def test_options_that_no_rule_reads_may_be_unknown() -> None:
    text = "[a]\nioengine=rbd\npool=${POOL}\nrbdname=${IMAGE}\nrw=randread\nbs=4k\n"
    assert "unknown-variable" not in rules(text)


@pytest.mark.parametrize(
    "command",
    [
        "generate-benchmark-summary fio --config=a --targets=/tmp --block-sizes=4 --samples=1 --clients=a,b",
        "/usr/local/bin/fio --client-file=vms.list --pre-iteration-script=drop.sh --rw=write,read --max-jobs=9 a.fio",
    ],
)
def test_options_of_another_program_are_not_those_of_fio(command: str) -> None:
    assert _rules(f"{command}\n") <= {"no-job"}
    assert "refused-by-fio" in _rules("fio --name=a --rw=read --size=1g --client-file=a --pre-iteration=b --sample=1\n")


@pytest.mark.parametrize("files", ["jobs/*", "a.fio b.fio", "/etc/fio/seq.conf"])
def test_a_variable_may_be_a_job_file(files: str) -> None:
    text = f"for job in {files}; do\n  fio --output=$job.log $job\ndone\n"
    assert _rules(text) == {"no-job"}
    assert "unknown-variable" in _rules(text.replace(files, "$@"))


def test_a_line_of_a_job_file_may_be_a_variable() -> None:
    job = "cat > a.fio <<EOF\n[global]\nrw=read\nbs=1m\ndirect=1\n$SIZE\nEOF\n"
    more = "cat >> a.fio <<EOF\n[a]\nioengine=libaio\niodepth=8\nEOF\nfio a.fio\n"
    found = lint(source(job + more, "b.sh"))
    assert {(each.line, each.rule) for each in found} == {(6, "unknown-variable")}


def test_folders_of_the_shell_are_known() -> None:
    call = "fio --name=a --rw=randread --bs=4k --size=9g --direct=1 --filename={}/f\n"
    assert [_rules(call.format(name)) for name in ("$PWD", "${HOME}", "$(pwd)")] == [set()] * 3
    assert _rules(call.format("$WORK")) == {"unknown-variable"}


def test_an_unknown_value_in_a_word_of_its_own() -> None:
    text = "fio --name ${n}_$1 --directory $d --rw=write --bs=1m --size=1g --direct=1\n"
    found = [each for each in lint(source(text, "b.sh")) if each.rule == "unknown-variable"]
    assert [each.message.partition(":")[0] for each in found] == ["directory=$d"]


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ('echo "$J" > j.fio', [4]), ("printf '%s' \"$J\" | fio -", [4]), ('echo "$J" | tee j.fio', [4]),
        ('echo "$J" | sed s/1g/2g/ > j.fio', []), ('echo "$J" | envsubst > j.fio', []),
        ('echo "$J" || sed s/a/b/ x', [4]),
    ],
)  # fmt: skip
def test_a_job_file_in_a_variable(command: str, lines: list[int]) -> None:
    """Its findings have the line of the command that prints it, unless another program changes it first."""
    text = f'J="[a]\nrw=write\nsize=1g"\n{command}; fio j.fio\n'
    assert _unsynced(text) == lines


_ITEMS = ("--name=a", "--rw=read", "--bs=1m", "--size=1g", "--direct=1", "--runtime=60")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('- command: ["fio"]\n  args: [' + ", ".join(f'"{each}"' for each in _ITEMS) + "]\n", 2),
        ("  command: [fio, " + ", ".join(_ITEMS) + "]\n", 1),
        ('  args: ["-c", "fio ' + " ".join(_ITEMS) + '"]\n', 1),
        ("  args: ['-c', 'fio " + " ".join(_ITEMS) + "']\n", 1),
        ("  command:\n  - /usr/bin/fio\n" + "".join(f"  - {each}\n" for each in _ITEMS), 8),
        ('  image: me/fio\n  args:\n    - "' + '"\n    - "'.join(_ITEMS) + '"\n  env: []\n', 8),
        ("  command:\n    argv:\n      - fio\n" + "".join(f"      - {each}\n" for each in _ITEMS), 9),
        ('  args: [\n    "' + '",\n    "'.join(_ITEMS) + '",\n  ]\n', 7),
    ],
)
def test_lists_of_arguments(text: str, line: int) -> None:
    assert _said(text) == [(line, "note", "runtime-without-time-based")]
    other = text.replace("--direct=1", "--time_based")
    assert _rules(other) <= {"no-job"}


def test_lists_without_fio() -> None:
    assert _rules('command: ["sh", "-c", "sleep 1"]\nargs:\n- --name=x\n- --port=80\n') == {"no-job"}
    assert _rules('args: ["--leader-elect"]\n') == {"no-job"}


def test_a_command_in_an_alias() -> None:
    call = "fio --name=a --rw=read --size=1g --runtime=60 --direct=1 --filename=/mnt/f"
    assert _said(f'# comment\nalias iofio="{call}"\n') == [(2, "note", "runtime-without-time-based")]
    assert _rules('alias fio="fio --direct=1"\nalias ll="ls -l"\n') == {"no-job"}


@pytest.mark.parametrize("test", ["if [ {} -ne 0 ]", "while [[ {} -ne 0 ]]", "elif test {} -ne 0"])
def test_a_comparison_with_a_variable_does_not_run_fio(test: str) -> None:
    call = "fio --name=a --rw=read --size=1g --direct=1 --filename=/mnt/f\nFIO_EXIT=$?\n"
    assert not _rules(call + test.format('"$FIO_EXIT"') + "; then\n  exit 1\nfi\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('subprocess.run(["fio", "--name=a",\n    f"--filename={path}", "--rw=randread",\n    "--iodepth=32"])\n', 3),
        ('cmd = ["/usr/bin/fio", "--name=a", "--rw=" + rw,  # QD\n "--iodepth", "32"]\n', 2),
        ('ARGS = ["--name=a", "--rw=randread", "--iodepth=32"]\nrun(["fio"] + ARGS)\n', 1),
        ('QD = 32\nrun(["fio", "--name=a", "--rw=randread", f"--iodepth={QD}"])\n', 2),
        (
            'exec.Command("fio", "--name=a", fmt.Sprintf("--size=%s", n),\n"--rw=randread", "--iodepth=32")\n',
            2,
        ),
        ('my @cmd = ("fio", "--name=a", "--rw=randread",\n  "--iodepth=32");\nsystem(@cmd);\n', 2),
        ("spawn('fio', ['--name=a', '--rw=randread', '--iodepth=32'])\n", 1),
        ('Command::new("fio")\n  .arg("--name=a").arg("--rw=randread")\n  .arg("--iodepth=32")\n', 3),
        ("$a = @('--name=a', '--rw=randread',\n  '--iodepth=32')\n& fio.exe @a\n", 2),
        ('FROM x\nENTRYPOINT ["fio"]\nCMD ["--name=a", "--rw=randread", "--iodepth=32"]\n', 3),
        ("FIO ?= fio\nQD := 32\na:\n\t$(FIO) --name=a --rw=randread \\\n\t--iodepth=$(QD)\n", 5),
        ("set QD=32\nfio --name=a --rw=randread --iodepth=%QD%\n", 2),
        ("$qd = '32'\nfio --name=a --rw=randread --iodepth=$qd\n", 2),
    ],
)
def test_calls_in_a_program(text: str, line: int) -> None:
    assert (line, "warning", "iodepth-with-sync-engine") in said(text, name="x.txt")


def test_lists_that_are_no_calls() -> None:
    assert [rule for _, _, rule in said('x = ["fio", "--version"]\ny = ["a", "b"]\n', name="x.py")] == ["no-job"]
    assert said('d = {"name": "a", "rw": "b"}\n', name="x.py") == said("x\n", name="x.py")


@pytest.mark.parametrize(
    "script",
    [
        "run() { fio --name=a --rw=$1 --ioengine=sync --iodepth=$2; }\nrun randread 1\nrun randread 32\n",
        'run() {\n  local n=$1; shift\n  fio --name=$n --ioengine=sync "$@"\n}\nrun a\nrun b --iodepth=8\n',
        'function run {\n  local qd=${2:-8}\n  fio --name=a --rw=$1 --iodepth="$qd"\n}\nrun read 1\nrun read\n',
    ],
)
def test_each_call_of_a_function_is_checked(script: str) -> None:
    calls = script.rstrip("\n").count("\n") + 1
    (found,) = [each for each in lint(source(script, "x.sh")) if each.rule == "iodepth-with-sync-engine"]
    assert re.search(rf"\(with .* line {calls}\)", found.message)
    assert "unknown-variable" not in rules(script, name="x.sh")


def test_a_function_with_arguments_is_one_finding_with_each_call() -> None:
    script = "run() { fio --name=a --rw=$1 --filename=/mnt/f --size=1g; }\nrun write\nrun randwrite\n"
    (found,) = [each for each in lint(source(script, "x.sh")) if each.rule == "write-without-sync"]
    assert found.line == 1 and "line" not in found.message
    (found,) = [each for each in lint(source(f"{script}run read\n", "x.sh")) if each.rule == "write-without-sync"]
    assert found.message.endswith("(with the arguments on lines 2, 3)")
    read = "run() { fio --name=a --rw=$1 --filename=/mnt/f --size=1g; }\nrun write\nrun read\n"
    assert "read-after-write" in rules(read, name="x.sh")
    assert "read-after-write" not in rules(
        read.replace("run read", "echo 3 > /proc/sys/vm/drop_caches; run read"), name="x.sh"
    )


def test_the_name_of_a_job_file_cannot_add_commands_to_a_fix() -> None:
    found = lint(source("fio 'jobs/$(reboot).fio'\n", name="bench.sh"), None)
    assert [each.fix for each in found if each.rule == "no-job"] == ["poolproof lint 'jobs/$(reboot).fio'"]
