"""Programs that call fio: lists of arguments and strings that the program completes elsewhere."""

import pytest

from poolproof.foreign.lint.check import lint
from tests.unit.foreign.lint.making import fixed_text, rules, said, source

_UNSYNCED = "write-without-sync"
_ARGUMENTS = '"--name=a", "--rw=write", "--bs=1m", "--size=8g"'


@pytest.mark.parametrize(
    "text",
    [
        f"cmd = ['fio', {_ARGUMENTS}]\nif direct:\n    cmd.append('--direct=1')\nrun(cmd)\n",
        f"cmd = ['fio', {_ARGUMENTS}]\ncmd += ['--end_fsync=1']\nrun(cmd)\n",
        f"cmd = ['fio', {_ARGUMENTS}]\nrun(cmd + extra, check=True)\ncmd.extend(more)\n",
        f"run([*base, {_ARGUMENTS}])\n",
        f"run(base + [{_ARGUMENTS}])\n",
        f"run([{_ARGUMENTS}, *extra])\n",
        f"run([{_ARGUMENTS}] + extra)\n",
        f"args := []string{{{_ARGUMENTS}}}\nargs = append(args, more...)\n",
        f'exec.Command("fio", append([]string{{{_ARGUMENTS}}}, more...)...)\n',
        f"const args = [{_ARGUMENTS}];\nargs.push('--direct=1');\n",
        f'let mut cmd = Command::new("fio");\ncmd.args([{_ARGUMENTS}]);\ncmd.arg("--direct=1");\n',
        f'cmd.args([{_ARGUMENTS}]).arg("--end_fsync=1");\n',
        f'cmd.args([{_ARGUMENTS},\n  ])\n  .arg(format!("--runtime={{}}", s))\n  .arg("--end_fsync=1");\n',
        f'Command::new("fio").args([{_ARGUMENTS}]).arg(sync).arg("--output=x");\n',
    ],
)
def test_options_that_a_program_adds_elsewhere(text: str) -> None:
    assert _UNSYNCED not in rules(text, name="bench.txt")


@pytest.mark.parametrize(
    "text",
    [
        f"def f():\n    cmd = ['fio', {_ARGUMENTS}]\ndef g():\n    cmd = ['ls']\n    cmd.append('-l')\n",
        f"cmd = ['fio', {_ARGUMENTS}]\nsubprocess.run(cmd, check=True)\n",
        f"spawn('fio', [{_ARGUMENTS}], options)\n",
        f'cmd.args([{_ARGUMENTS}]).arg(format!("--output={{}}", path)).status();\n',
        "const a = ['--name=a', `--filename=${file}`, '--rw=write', '--bs=1m', '--size=8g'];\n",
        'cmd.arg("--name=a")\n  .arg(format!("--filename={}", f))\n  .args(["--rw=write", "--size=8g"])\n',
    ],
)
def test_lists_that_are_complete(text: str) -> None:
    assert _UNSYNCED in rules(text, name="bench.txt")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('cmd = (f"fio --name=a --filename={path} "\n       f"--rw=write --bs=1m --size=8g")\n', 1),
        ('\nos.system(f"fio --name=a --filename={path} --rw=write --bs=1m --size={size}g")\n', 2),
        ('cmd = "fio --name=a --filename=" + path + " --rw=write --bs=1m --size=8g"\n', 1),
        ('x = "fio --name=a --rw=write " \\\n  "--bs=1m --size=8g"\n', 1),
        ("system('fio --name=a --filename=' . $dir . '/f --rw=write --bs=1m --size=8g');\n", 1),
        ('os.system("fio --name=a --filename=%s --rw=write --bs=1m --size=%dg" % (path, size))\n', 1),
    ],
)
def test_commands_in_strings(text: str, line: int) -> None:
    assert (line, "warning", _UNSYNCED) in said(text, name="bench.txt")
    assert "refused-by-fio" not in rules(text, name="bench.txt")


@pytest.mark.parametrize(
    "text",
    [
        'cmd = (f"fio --name=a --rw=write --bs=1m --size=8g "\n       f"--direct=1")\n',
        'cmd = "fio --name=a --rw=write --bs=1m --size=8g " + options\n',
        'cmd = f"fio --name=a --rw=write --bs=1m --size=8g"\nif direct:\n    cmd += " --direct=1"\n',
        'self.cmd = "fio --name=a --rw=write --bs=1m --size=8g"\nself.cmd += " --end_fsync=%s" % end\n',
        'cmd = "fio --name=a --rw=write --bs=1m --size=8g"\ncmd = cmd + " --direct=1"\n',
        'os.system(f"fio --name=a --rw=write --bs=1m --size=8g {options}")\n',
        'x = "fio --name=a --rw=write --size=8g " \\\n  "--end_fsync=1"\n',
    ],
)
def test_commands_to_which_a_program_adds_options(text: str) -> None:
    assert _UNSYNCED not in rules(text, name="bench.txt")


def test_two_commands_in_a_row_stay_apart() -> None:
    text = 'commands=(\n  "fio --name=a --rw=write --size=8g"\n  "fio --name=b --rw=write --size=8g --end_fsync=1"\n)\n'
    text += 'for each in "${commands[@]}"; do eval "$each"; done\n'
    found = [line for line, _, rule in said(text, name="bench.sh") if rule == _UNSYNCED]
    assert found in ([2], [])


def test_a_command_that_a_program_joins_is_not_changed() -> None:
    text = 'cmd = (f"fio --name=a --rw=write --bs=1m "\n       f"--size=8g")\n'
    after = fixed_text(text, name="bench.py")
    assert after.text == text
    assert _UNSYNCED in {each.rule for each in after.left}


def test_the_form_of_an_entrypoint_on_several_lines() -> None:
    text = 'FROM x\nENTRYPOINT ["fio", "--name=a", "--rw=write", \\\n  "--bs=1m", "--size=8g"]\n'
    assert {rule for _, _, rule in said(text, name="Dockerfile")} == {_UNSYNCED}


@pytest.mark.parametrize("mark", ["//", " *"])
def test_a_command_in_a_comment(mark: str) -> None:
    text = f"{mark} fio -name=a -rw=write -bs=1m \\\n{mark}    -size=8g\n"
    assert said(text, name="x.c") == [(1, "warning", _UNSYNCED)]


@pytest.mark.parametrize(
    ("value", "is_refused"),
    [
        ("min(total // 2, 10)", False),
        ("gib * 1024", False),
        ("args.size", False),
        ("args", False),
        ('"nonsense"', True),
        ("10", False),
    ],
)
def test_values_that_a_program_computes_are_unknown(value: str, is_refused: bool) -> None:
    text = f'size = {value}\ncmd = ["fio", "--name=a", "--rw=read", f"--size={{size}}", "--direct=1"]\n'
    assert ("refused-by-fio" in rules(text, name="bench.py")) == is_refused


@pytest.mark.parametrize(
    ("setting", "is_refused"), [("RW = nonsense", True), ("RW ?= nonsense", True), ("RW = read", False)]
)
def test_words_without_quotes_are_values_in_make(setting: str, is_refused: bool) -> None:
    text = f"{setting}\nbench:\n\tfio --name=a --rw=$(RW) --size=1g --direct=1\n"
    assert ("refused-by-fio" in rules(text, name="Makefile")) == is_refused


def test_items_and_arguments_of_a_program_set_no_variables() -> None:
    dd = 'run(["dd", "if=/dev/zero", "bs=1M", "count=1"])\nrun("x", size="1g", rw="write")\n'
    call = 'run(f"fio --name=a --bs={bs} --rw={rw} --size={size} --direct=1")\n'
    assert {rule for line, _, rule in said(f"{dd}{call}", name="bench.py") if line == 3} == {"unknown-variable"}


@pytest.mark.parametrize(
    "text",
    [
        "FIO := fio --direct=1 --ioengine=libaio\nbench:\n\t$(FIO) --name=a --rw=read --size=1g\n",
        'base = "fio --direct=1 --ioengine=libaio"\nrun(base + " --name=a --rw=read --size=1g")\n',
        'base = f"fio --direct=1 --bs={bs}"\nrun(f"{base} --name=a --rw=read --size=1g")\n',
        'base = "fio --direct=1"\n',
    ],
)
def test_the_beginning_of_a_command_needs_no_name(text: str) -> None:
    assert "refused-by-fio" not in rules(text, name="bench.txt")
    assert "refused-by-fio" in rules("fio --direct=1 --ioengine=libaio --rw=read\n", name="bench.txt")


def test_a_command_whose_beginning_is_in_a_variable() -> None:
    for call in ('run(base + " --name=a --size=8g")', 'run(f"{base} --name=a --size=8g")'):
        text = f'base = "fio --rw=write --bs=1m"\n{call}\n'
        assert said(text, name="bench.py") == [(2, "warning", _UNSYNCED)]
        synced = text.replace("fio ", "fio --end_fsync=1 ")
        assert _UNSYNCED not in rules(synced, name="bench.py")


def test_a_value_after_the_last_item() -> None:
    for joined in ('"--rw=" ++ mode', '"--rw=" + mode'):
        items = '"fio", "--name=a", "--direct=1", "--ioengine=libaio", "--size=1g", "--iodepth=8"'
        text = f"const a = [_]x{{ {items}, {joined} }};\n"
        assert rules(text, name="bench.zig") == {"unknown-variable"}
    text = 'a = ["fio", "--name=a", "--direct=1", "--ioengine=libaio", "--iodepth=8", "--rw=read"]\n'
    assert "sequential-iops" in rules(text, name="bench.py")


@pytest.mark.parametrize(
    ("call", "is_early"),
    [
        ('"fio --name=%s --rw=read --direct=1 --size=%dG --runtime=%d" % ("t", 2, 300)', True),
        ('"fio --name=%s --rw=read --direct=1 --size=%dG --runtime=%d" % ("t", 2, 1)', False),
        ('"fio --name=%s --rw=read --direct=1 --size=%dG --runtime=%d" % ("t", size, 300)', False),
        ('"fio --name=a --rw=read --direct=1 --size={} --runtime={}".format("2G", 300)', True),
        ('"fio --name=a --rw=read --direct=1 --size={} --runtime={}".format(size, 300)', False),
        ('("fio --name=a --rw=read --direct=1 "\n "--size=%sG --runtime=%d" % (2,\n 300))', True),
        ('"fio --name=a --rw=read --direct=1 --size=2G --runtime=%s" % 300', True),
        ('"fio --name=a --rw=read --direct=1 --size=2G --runtime=%s" % seconds', False),
    ],
)
def test_arguments_of_a_format(call: str, is_early: bool) -> None:
    assert ("runtime-without-time-based" in rules(f"os.system({call})\n", name="bench.py")) == is_early


@pytest.mark.parametrize(
    "string", ['"""\n{}"""', '"""\\\n{}"""', "'''{}'''", 'r#"\n{}"#', "`{}`", '@"\n{}"@', 'f"""\n{}"""']
)
def test_job_files_in_strings(string: str) -> None:
    job = "[global]\nsize={size}g\nrw=write\n\n[a]\nbs=1m\n"
    text = f"x = 1\njob = {string.replace('{}', job)}\nrun('fio', path)\n"
    assert "write-without-sync" in rules(text, name="bench.txt")
    assert "write-without-sync" not in rules(text.replace("bs=1m", "end_fsync=1"), name="bench.txt")
    assert "no-job" in rules(text.replace("size=", "a=").replace("rw=", "b=").replace("bs=", "c="), name="bench.txt")


def test_comments_between_the_items_of_a_list() -> None:
    text = 'args := []string{\n"--name=a", // never "global"\n"--rw=write", # it\'s "new"\n"--size=8g"}\n'
    assert _UNSYNCED in rules(text, name="bench.go")
    more = text.replace("args := []string{", "args := append([]string{").replace('"}', '", // "q"\n}, extra...)')
    assert _UNSYNCED not in rules(more, name="bench.go")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Install fio:\n\n  # fio --name=a --rw=write --size=8g\n", 3),
        ("  # sudo fio --name=a --rw=write --size=8g\n", 1),
        ("# fio --name=a --rw=write --size=8g\na: (g=0): rw=write, bs=(R) 4096B-4096B\n", 1),
        ("case $1 in\nseq)\n  export FIO_ARGS='fio --name=a --rw=write --size=8g | tee out'\n  ;;\nesac\n", 3),
        ('fioOptions = "--name=a --rw=write --size=8g --end_fsync=0"\n', 0),
    ],
)
def test_commands_in_a_text_without_other_calls(text: str, line: int) -> None:
    assert [each for each in said(text, name="doc.txt") if each[2] == _UNSYNCED] == [(line, "warning", _UNSYNCED)][
        :line
    ]
    assert _UNSYNCED not in rules(f"{text}fio --name=b --rw=read --direct=1 --size=1g\n", name="doc.txt")
    assert "no-job" not in rules(text, name="doc.txt")


def test_a_comment_of_a_script_is_no_command() -> None:
    assert rules("#!/bin/sh\n# fio --name=a --rw=write --size=8g\n", name="b.sh") == {"no-job"}
    assert rules("#!/bin/sh\n# the fio options\n", name="b.sh") == {"no-job"}
    assert rules("# fio --name=a --rw=write --size=8g\nls\n", name="b.sh") == {"no-job"}


def test_an_apostrophe_in_a_word_is_no_quote() -> None:
    assert _UNSYNCED in rules("a drive's speed:\nfio --name=a --rw=write --size=8g\nthat's it\n", name="doc.txt")
    assert _UNSYNCED not in rules("fio --name='a\nfio --rw=write --size=8g' --rw=read\n", name="b.sh")


@pytest.mark.parametrize("convert", [".into()", ".to_string()", ""])
def test_strings_that_rust_converts(convert: str) -> None:
    items = ("--name=a", "--rw=write", "--bs=1m", "--size=8g")
    text = f"vec![\n{''.join(f'    {chr(34)}{item}{chr(34)}{convert},{chr(10)}' for item in items)}]\n"
    assert _UNSYNCED in rules(text, name="bench.rs")
    assert _UNSYNCED not in rules(text.replace("--bs=1m", "--end_fsync=1"), name="bench.rs")


@pytest.mark.parametrize(
    ("call", "is_fio"),
    [
        ("fio_custom --name=a --rw=write --bs=1m --size=8g", True),
        ("/data/fio-arm64_v2 --name=a --rw=write --bs=1m --size=8g", True),
        ("fio_plot --name=a --rw=write", False),
        ("fio-report --size=8g --bs=1m --rw=write", False),
        ("myfio --name=a --rw=write --bs=1m --size=8g", False),
    ],
)
def test_fio_by_another_name(call: str, is_fio: bool) -> None:
    assert (_UNSYNCED in rules(f"{call}\n", name="bench.sh")) == is_fio


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('run("fio --name=a --rw=read --size=8g".split())\n', "8g"),
        ('x = ["sh", "-c", "fio --name=a --rw=read --size=8g"]\n', "8g"),
        ('x = {"cmd": "fio --name=a --rw=read --size=8g"}\n', "8g"),
        ('run("fio --name=a --rw=read --size=8g", shell=True)\n', "8g"),
        ('run(["fio", "--name=a", "--rw=read", "--size=%s" % size])\n', "${size}"),
        ('run(["fio", "--name=a", "--size=%d%s" % (n, unit), "--rw=read"])\n', "${value}${value}"),
        ('run(["fio", "--name=a", "--size={}".format(size), "--rw=read"])\n', "${size}"),
        ('run(["fio", "--name=a", "--size=" + size, "--rw=read"])\n', "${size}"),
    ],
)
def test_the_value_of_an_option(text: str, value: str) -> None:
    [call] = source(text, "bench.py").units
    assert [job.options["size"] for job in call.jobs] == [value]


@pytest.mark.parametrize(
    "text",
    [
        f'execlp("fio", "fio", {_ARGUMENTS}, NULL);\n',
        f'char *args[] = {{"fio", {_ARGUMENTS}, nullptr}};\n',
        f'Command::new("fio").args(&["--bs=4k", &format!("--filename={{}}", p), {_ARGUMENTS}]);\n',
        f'Command::new("fio").arg("--bs=4k").arg(&format!("--filename={{}}", p)).args([{_ARGUMENTS}]);\n',
        'opts = "--filename=%s --rw=write --size=1g" % f\nos.system("fio --name=a --bs=1m " + opts)\n',
        'opts = "--rw=write --size=1g"\nos.system(f"fio --name=a --bs=1m {opts}")\n',
        "cmd = 'fio ' + '--name=a ' + '--filename=' + f + ' --rw=write --size=1g --bs=1m'\n",
    ],
)
def test_complete_commands(text: str) -> None:
    assert _UNSYNCED in rules(text, name="bench.txt")
    assert _UNSYNCED not in rules(text.replace("--rw=write", "--rw=read"), name="bench.txt")


def test_options_that_a_variable_gets_in_several_places_are_unknown() -> None:
    text = 'opts = "--rw=write --size=1g"\nif x:\n    opts = "--rw=write --fsync=1"\nrun("fio --name=a " + opts)\n'
    assert rules(text, name="bench.py") == {"unknown-variable"}


@pytest.mark.parametrize(
    "prepares",
    [
        'run(["truncate", "-s", "10G", "/data/f"])',
        'exec.Command("truncate", "-s", "10G", "/data/f").Run()',
        'os.system("truncate -s 10G /data/f")',
        'run(["sudo", "fallocate", "-l", "10G", "/data/f"])',
    ],
)
def test_files_that_a_program_prepares(prepares: str) -> None:
    call = 'run(["fio", "--name=a", "--filename=/data/f", "--rw=randread", "--size=10g", "--direct=1"])'
    assert "unwritten-read" in rules(f"{prepares}\n{call}\n", name="bench.py")
    assert "unwritten-read" not in rules(f"{call}\n{prepares}\n", name="bench.py")
    assert "unwritten-read" not in rules(f"{prepares.replace('/data/f', '/data/g')}\n{call}\n", name="bench.py")


def test_a_command_that_is_only_printed_prepares_nothing() -> None:
    call = "fio --name=a --filename=/data/f --rw=randread --size=10g --direct=1\n"
    assert "unwritten-read" not in rules(f'echo "truncate -s 10G /data/f"\n{call}', name="bench.sh")
    assert "unwritten-read" in rules(f'ssh host "truncate -s 10G /data/f"\n{call}', name="bench.sh")


@pytest.mark.parametrize(
    "text",
    [
        'cmd = "fio --name=" + self.name + " --rw=write --bs=" + str(\n    self.bs\n) + " --end_fsync=1 --size=8g"\n',
        f'cmd = "fio {_ARGUMENTS.replace(chr(34), "").replace(",", "")}" + (more if x else other())\n',
        f'run(["fio", {_ARGUMENTS}, *(each for each in more), "--end_fsync=1"])\n',
        f'run(["fio", {_ARGUMENTS}] + [f"--{{k}}={{v}}" for k, v in more.items()])\n',
        f'Command::new("fio").args([{_ARGUMENTS}]).arg(if x {{ y(1) }} else {{ z(2) }}).arg("--end_fsync=1");\n',
    ],
)
def test_an_expression_that_lint_cannot_read_may_add_options(text: str) -> None:
    assert _UNSYNCED not in rules(text, name="bench.txt")


def test_a_missing_comma_joins_two_strings() -> None:
    text = 'run([\n    "fio",\n    "--name=a"\n    f"--directory={path}",\n    "--rw=write", "--size=8g"\n])\n'
    assert rules(text, name="bench.py") >= {"misread-by-fio", _UNSYNCED}
    assert "misread-by-fio" not in rules(text.replace('"--name=a"', '"--name=a",'), name="bench.py")
    [call] = source(text.replace('=a"', '=a-"').replace('f"--directory={path}"', '"b"'), "bench.py").units
    assert [job.name for job in call.jobs] == ["a-b"]


_FORMAT = "fio --name=a --filename=/mnt/%s --rw=%s --bs=1m --size=8g"


def test_a_command_that_is_completed_later() -> None:
    text = f'CMD = "{_FORMAT}"\nos.system(CMD % ("f", "write"))\n'
    assert rules(text, name="bench.py") == {_UNSYNCED}
    assert rules(text.replace('"write"', '"randread"'), name="bench.py") == set()
    both = f'{text}os.system(CMD % (path, "randread"))\n'
    assert rules(both, name="bench.py") == {_UNSYNCED, "unknown-variable"}
    braces = text.replace("%s", "{}").replace("CMD % (", "CMD.format(")
    assert rules(braces, name="bench.py") == {_UNSYNCED}


@pytest.mark.parametrize("quotes", ['"""', "'''"])
@pytest.mark.parametrize("prefix", ["f", "rf", ""])
def test_a_command_in_three_quotes(quotes: str, prefix: str) -> None:
    text = f"cmd = {prefix}{quotes}fio --name=a --rw=write\n    --bs=1m --size=8g{quotes}\nrun(cmd.split())\n"
    assert _UNSYNCED in rules(text, name="bench.py")
    assert _UNSYNCED not in rules(text.replace("--bs", "--end_fsync=1 --bs"), name="bench.py")


_TABLE = 'OPTIONS = {\n    "name": "a",\n    "rw": "write",  # in order\n    "bs": "1m",\n    "size": size,\n}\n'


@pytest.mark.parametrize(
    "use",
    [
        'run(["fio"] + [f"--{k}={v}" for k, v in OPTIONS.items()])',
        'run(["fio"] + ["--%s=%s" % item for item in OPTIONS.items()])',
        "args = ['fio']\nfor k, v in OPTIONS.items():\n    args.append('--{}={}'.format(k, v))\nrun(args)",
    ],
)
def test_options_in_a_dict(use: str) -> None:
    assert (3, "warning", _UNSYNCED) in said(f"{_TABLE}{use}\n", name="bench.py")
    assert _UNSYNCED not in rules(f'{_TABLE}OPTIONS["end_fsync"] = 1\n{use}\n', name="bench.py")
    assert _UNSYNCED not in rules(f"{_TABLE.replace('size,', 'size, **more,')}{use}\n", name="bench.py")
    assert _UNSYNCED not in rules(f"{_TABLE}print(OPTIONS)\n# not for fio\n", name="bench.py")


def test_a_value_between_two_strings_of_a_list() -> None:
    text = f'exec.Command("fio", {_ARGUMENTS}, "--filename="+path+"/test.bin", "--thread")\n'
    assert rules(text, name="bench.go") == {_UNSYNCED, "unknown-variable"}
    assert _UNSYNCED not in rules(text.replace("--thread", "--end_fsync=1"), name="bench.go")


def test_a_string_that_continues_on_the_next_line() -> None:
    text = 'cmd = f"fio --name=a --filename={path} --rw=write \\\n    --bs=1m --size=8g"\nrun(cmd)\n'
    assert _UNSYNCED in rules(text, name="bench.py")
    assert _UNSYNCED not in rules(text.replace("--bs", "--end_fsync=1 --bs"), name="bench.py")


def test_a_command_after_two_slashes() -> None:
    command = "fio --name=a --directory=/mnt --rw=write --bs=1m --size=8g"
    assert rules(f"\t// {command}\n\trun()\n", name="bench.go") == {_UNSYNCED}
    assert rules(f'\t// {command}\n\tsystem("{command} --end_fsync=1")\n', name="bench.c") == set()


def test_a_job_file_that_a_program_joins_from_two_strings() -> None:
    text = (
        'BASE = """\n[global]\nioengine=libaio\ndirect=1\nsize={size}\n"""\n'
        'JOB = """\n[a]\nrw=randread\niodepth=16\nbs=4k\nfilename=/mnt/f\n"""\n'
        "def job(conf):\n    return (BASE + JOB).format(**conf)\n"
    )
    assert [each.message for each in lint(source(text, name="run.py")) if each.rule != "unknown-variable"] == []
    assert "iodepth-with-sync-engine" in rules(text.replace("BASE + ", ""), name="run.py")
    own = text.replace("=libaio", "={lib}/own.so\nown_option=1").replace("randread", "write")
    (note,) = [each for each in lint(source(own, name="run.py")) if each.rule != "unknown-variable"]
    assert note.message == "lint does not know the option 'own_option'; the engine {lib}/own.so may have it"
    assert {each.message.partition(":")[0] for each in lint(source(text, name="run.py"))} == {"size={size}"}


def test_a_job_file_that_a_program_writes_line_by_line() -> None:
    lines = [
        "[global]",
        "ioengine=psync",
        "iodepth={depth}",
        "rw=randread",
        "bs=4k",
        "size=9g",
        "[a]",
        "filename=/mnt/f",
    ]
    text = "with open('a.fio', 'w') as f:\n" + "".join(f'    f.write(f"{line}\\n")\n' for line in lines)
    found = sorted(said(text, name="make.py"))
    assert found == [(4, "note", "iodepth-with-sync-engine"), (4, "note", "unknown-variable")]
    assert rules(text.replace("ioengine=psync", "direct=1"), name="make.py") >= {"iodepth-with-sync-engine"}
    assert rules(text.replace("f.write", "log.info"), name="make.py") == {"no-job"}


@pytest.mark.parametrize("program", ["fio_exe", "fio", "self.fio_path", "FIO"])
def test_a_program_in_a_variable(program: str) -> None:
    options = "' --name=a --rw=randread --bs=4k --size=9g --filename=/mnt/f'\n    ' --ioengine=psync --iodepth=8'"
    text = f"vm.run(\n    f'{{{program}}} --direct=1'\n    {options}\n)\n"
    expected = {"iodepth-with-sync-engine"} if program != "FIO" else {"no-job"}
    assert rules(text, name="run.py") == expected


@pytest.mark.parametrize("more", ["cmd = str('%s --direct %s' % (cmd, direct))", "cmd = '{} --direct 1'.format(cmd)"])
def test_a_command_that_a_program_puts_into_a_longer_one(more: str) -> None:
    text = f"cmd = str('fio --name a --rw randrw --size 1g --filename %s' % path)\n{more}\nrun(cmd)\n"
    assert rules(text, name="bench.py") == {"unknown-variable"}
    other = text.replace(more, more.replace("cmd =", "log =", 1))
    assert "write-without-sync" in rules(other, name="bench.py")
