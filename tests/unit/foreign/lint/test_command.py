"""The command `poolproof lint` as users run it: sources, output, exit codes, JSON and SARIF."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poolproof.cli.main import main
from poolproof.foreign.lint.model import Diagnostic
from poolproof.presentation.terminal.diagnostics import lines_of

_TRAP = "[a]\nrw=write\nbs=1m\nsize=1g\n"
_SOUND = "[a]\nrw=write\nbs=1m\nsize=1g\nend_fsync=1\n"
_REFUSED = "[a]\nrw=write\nsize=1g\niodepht=4\n"
_FS = ["--fs", "ext4"]

Lint = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lint(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Lint:
    def run(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["poolproof", "lint", *words])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return run


@pytest.fixture
def job_file(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "job.fio"
        path.write_text(text)
        return str(path)

    return write


def test_a_finding_reads_like_a_compilers(lint: Lint, job_file: Callable[[str], str]) -> None:
    path = job_file(_TRAP)
    code, out, _ = lint(path, *_FS)
    first, mend, *_, last = out.splitlines()
    assert first.startswith(f"{path}:2: warning: write-without-sync: ")
    assert mend.startswith("  fix: set end_fsync=1")
    assert last == "1 warning"
    assert code == 0


def test_fio_without_options_is_a_command_and_not_a_missing_file(lint: Lint) -> None:
    code, _, err = lint("--", "fio")
    assert code == 2 and "`fio` has no options" in err and "poolproof lint -- fio --name=" in err


@pytest.mark.parametrize(
    ("text", "plain", "strict"), [(_SOUND, 0, 0), (_TRAP, 0, 1), (_REFUSED, 1, 1), ("[a]\nrw=read\nsize=1g\n", 0, 0)]
)
def test_exit_codes(lint: Lint, job_file: Callable[[str], str], text: str, plain: int, strict: int) -> None:
    assert lint(job_file(text), *_FS)[0] == plain
    assert lint(job_file(text), "--strict", *_FS)[0] == strict


def test_a_command_after_two_dashes(lint: Lint) -> None:
    code, out, _ = lint(*_FS, "--", "fio", "--name=a", "--rw=write", "--size=1g")
    assert code == 0
    assert out.startswith("command line:1: warning: write-without-sync")


def test_a_command_that_names_a_job_file(lint: Lint, job_file: Callable[[str], str]) -> None:
    path = job_file(_TRAP)
    assert f"{path}:2: warning: write-without-sync" in lint(*_FS, "--", "fio", path)[1]


def test_standard_input(lint: Lint) -> None:
    assert lint("-", *_FS, stdin=_TRAP)[1].startswith("<stdin>:2: warning: write-without-sync")
    assert lint("-", *_FS, stdin="fio --name=a --rw=write --size=1g\n")[1].startswith("<stdin>:1: warning")


def test_json_is_a_list_of_objects(lint: Lint, job_file: Callable[[str], str]) -> None:
    path = job_file(_TRAP)
    found = json.loads(lint(path, "--json", *_FS)[1])
    assert [list(each) for each in found] == [["source", "line", "rule", "severity", "message", "fix"]]
    assert (found[0]["source"], found[0]["line"], found[0]["severity"]) == (path, 2, "warning")
    assert json.loads(lint(job_file(_SOUND), "--json", *_FS)[1]) == []


def test_fix_prints_the_mended_job_and_nothing_else(lint: Lint, job_file: Callable[[str], str]) -> None:
    code, out, err = lint(job_file(_TRAP), "--fix", *_FS)
    assert (code, out) == (0, _SOUND)
    assert "fixed: write-without-sync" in err


def test_fix_says_which_lines_are_those_of_the_new_job(lint: Lint, job_file: Callable[[str], str]) -> None:
    path = job_file("[a]\nrw=randwrite\nbs=4k\nsize=10g\nruntime=60\nioengine=libaio\niodepth=8\n")
    err = lint(path, "--fix", "--fs", "zfs-2.2", "--recordsize", "128k")[2].splitlines()
    assert [line for line in err if line.startswith(f"{path}:")] == [line for line in err if ": fixed: " in line] != []
    left = [line for line in err if ": note: " in line or ": warning: " in line]
    assert left and all(line.startswith("<stdout>:") for line in left)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("runtime=60sec\ntime_based\n", "lint changes a job only if fio reads all its options as they are meant"),
        ("filename=a:b.c\n", "none of these fixes can be made automatically"),
    ],
)
def test_fix_says_why_nothing_changed(lint: Lint, job_file: Callable[[str], str], options: str, why: str) -> None:
    text = f"[a]\nrw=randread\nbs=4k\nsize=10g\ndirect=1\n{options}"
    _code, out, err = lint(job_file(text), "--fix", "--fs", "ext4")
    assert out == text
    assert f"<stdout>: unchanged: {why}" in err.splitlines()


def test_fix_prints_a_command_in_its_own_form(lint: Lint) -> None:
    out = lint("--fix", *_FS, "--", "fio", "--name=a b", "--rw=write", "--bs=1m", "--size=1g")[1]
    assert out == "fio '--name=a b' --rw=write --bs=1m --size=1g --end_fsync=1\n"


def test_a_command_may_be_one_word(lint: Lint) -> None:
    command = "fio --name=a --rw=write --bs=1m --size=1g"
    assert lint("--", command)[1] == lint("--", *command.split())[1] != ""


def test_mistakes_name_the_next_step(lint: Lint, job_file: Callable[[str], str]) -> None:
    for words in ([], ["none.fio"], ["--fix", job_file(_TRAP), job_file(_TRAP)], ["--fix", "--sarif", "-"],
                  ["-", "--ram", "much"], ["-", "--devices", "a floppy"], ["/"]):  # fmt: skip
        code, out, err = lint(*words)
        assert code == 2, words
        assert not out
        assert len(err.splitlines()) >= 2, err


def test_a_file_system_that_is_none_is_refused(lint: Lint, job_file: Callable[[str], str]) -> None:
    for word, near in (("zsf", "zfs"), ("zsf-2.2", "zfs"), ("btfrs", "btrfs"), ("etx4", "ext4")):
        code, out, err = lint(job_file(_SOUND), "--fs", word)
        assert (code, out) == (2, "")
        assert f"did you mean {near}?" in err
    assert lint(job_file(_SOUND), "--fs", "fuse.unionfs-fuse")[0] == 0


def test_the_path_of_the_job_on_this_machine_sharpens_it(lint: Lint, tmp_path: Path) -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("no /dev/shm here")
    command = ["fio", "--name=a", "--rw=randread", "--bs=4k", "--size=100t"]
    assert "volatile-target" in lint("--", *command, "--directory=/dev/shm")[1]
    assert "volatile-target" not in lint("--", *command, "--directory=/not/there")[1]
    hole = tmp_path / "hole"
    with hole.open("wb") as file:
        file.truncate(1024**3)
    assert "unwritten-read" in lint("--", *command, f"--filename={hole}")[1]


def test_sarif_has_what_the_standard_requires(lint: Lint, job_file: Callable[[str], str]) -> None:
    path = job_file(_TRAP + "iodepht=4\n")
    log = json.loads(lint(path, "--sarif", *_FS)[1])
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "poolproof"
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert {(each["ruleId"], each["level"]) for each in run["results"]} == {
        ("write-without-sync", "warning"), ("refused-by-fio", "error")
    }  # fmt: skip
    for each in run["results"]:
        _check_result(each, rules, path)


def _check_result(result: dict[str, Any], rules: list[dict[str, Any]], path: str) -> None:
    """Check a result against `result` in sarif-schema-2.1.0.json.

    It must have message.text, a rule by index, and a location with a URI and a line number that starts at 1.
    """
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] in {"none", "note", "warning", "error"}
    assert result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == path
    assert place["region"]["startLine"] >= 1


@pytest.mark.timeout(20)
def test_a_job_file_includes_only_job_files(lint: Lint, tmp_path: Path) -> None:
    """A job file from a stranger can include a device, a FIFO, a file with passwords, or itself many times."""
    (tmp_path / "secret").write_text("root:$y$hash:19000::\n[section]\ntoken = x\n")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "more").write_text("bs=64k\n")
    path = tmp_path / "job.fio"
    (tmp_path / "properties").write_text("name=prod\nport=3306\nrate=hash\n# a comment\ntoken\ndb.password=hash\n")
    for name in ("secret", "properties", "fifo", "link", "/dev/zero", "/proc/kmsg", "a" * 5000, "."):
        path.write_text(f"[a]\nrw=read\nsize=1g\ninclude {name}\n")
        code, out, _ = lint(str(path), *_FS)
        assert code == 1
        assert f"'{name[:60]}'" in out
        assert "hash" not in out and "token" not in out
    (tmp_path / "more").write_text("# a comment\n\n  bs=64k\ngroup_reporting\n; another one\n")
    path.write_text("[a]\nrw=read\nsize=1g\ninclude more\n")
    assert lint(str(path), *_FS)[0] == 0
    path.write_text("[a]\nrw=read\n" + "include job.fio\n" * 60)
    assert lint(str(path), *_FS)[0] == 1
    path.write_text("[a]\nrw=read\n" + "include more\n" * 3)
    (tmp_path / "more").write_text("bs=64k\n" + "# comment\n" * 30_000)
    assert "512 KiB" in lint(str(path), *_FS)[1]


_SECRETS = ("troubadour:horse-battery/" + "staple9" * 20, "tr0ub4", "8417", "64m")


@pytest.mark.parametrize("more", [(), ("--fix",), ("--json",), ("--sarif",)], ids=str)
@pytest.mark.parametrize("name", ["APP_PASSWORD", "PIN", "FILE_KEY", "FIO_TOKEN", "dbPass", "_X_SIZE"])
def test_no_finding_depends_on_the_value_of_a_variable_that_may_be_secret(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, more: tuple[str, ...]
) -> None:
    """A job file from a stranger can name a variable that contains a password."""
    (tmp_path / "more").write_text(f"bs=${{{name}}}\n")
    path = tmp_path / "job.fio"
    path.write_text(
        f"[a]\nrw=${{{name}}}\nsize=${{{name}}}\ninclude more\n[b]\nrw=write\nfilename=/x/${{{name}}}\nsize=1g\n"
    )
    answers = set()
    for value in _SECRETS:
        monkeypatch.setenv(name, value)
        answers.add(lint(*more, str(path), *_FS))
    assert len(answers) == 1
    assert "unknown-variable" in "".join(map(str, answers))


@pytest.mark.parametrize("name", ["PATTERN", "RW", "FIO_RW_MODE", "testPattern", "READ_WRITE_TYPE2"])
def test_a_variable_with_the_name_of_an_option_is_used(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "zebra")
    path = tmp_path / "job.fio"
    path.write_text(f"[a]\nrw=${{{name}}}\nsize=1g\n")
    assert "zebra" in "".join(lint(str(path), *_FS)[1:])


def test_a_finding_is_on_one_line() -> None:
    mount_point = Diagnostic("a", 1, "destroys-data", "error", "the device is mounted at /a\nb: error", "fix")
    assert next(iter(lines_of([mount_point]))) == "a:1: error: destroys-data: the device is mounted at /a b: error"


def test_storage_that_lint_cannot_look_at_is_named(lint: Lint, tmp_path: Path) -> None:
    job = ["--", "fio", "--name=a", "--rw=read", "--bs=1m", "--size=1g", f"--filename={tmp_path}/none/file"]
    _, out, err = lint(*job)
    assert f"unknown storage: {tmp_path}/none does not exist on this machine" in err
    assert "--on" in err and "--fs" in err
    assert f"{tmp_path}/none" not in out
    for options in (_FS, ["--json"], ["--sarif"]):
        assert lint(*options, *job)[2] == ""
    assert lint(*job[:-1], f"--filename={tmp_path}/file")[2] == "", "the directory exists"
    both = lint(*job, "--name=b", "--rw=read", "--size=1g", "--filename=/dev/absent")[2]
    assert f"{tmp_path}/none and /dev/absent do not exist" in both, "a device has no folder of its own"
