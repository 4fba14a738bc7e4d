"""Programs that call fio: lists of arguments and strings that the program completes elsewhere."""

import pytest

from tests.unit.foreign.lint.making import fixed_text, rules, said

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
