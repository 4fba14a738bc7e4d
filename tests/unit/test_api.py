"""The Python API: every example in docs/python-api.md runs, and importing the API is quick."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import poolproof
from poolproof.errors import UsageError
from poolproof.results.runs.loading import load_run
from tests.golden import Message
from tests.unit.docs.pages import DOCS
from tests.unit.presentation.export.making import grid_run

RESULT = Path(__file__).parents[1] / "data"
EXAMPLES = re.findall(r"```python\n(.*?)```", (DOCS / "python-api.md").read_text(encoding="utf-8"), re.DOTALL)
TEXT = """\
$ fio --name=r --rw=randread --bs=4k --size=1g --runtime=10
  read: IOPS=100k, BW=391MiB/s (410MB/s)(3906MiB/10000msec)
"""


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_every_example_of_the_page_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    grid_run(Path("runs") / "grid")
    Path("result.txt").write_text(TEXT, encoding="utf-8")
    exec(EXAMPLES[number], {})
    assert capsys.readouterr().out


def test_a_frame_has_a_row_for_each_cell(tmp_path: Path) -> None:
    run = poolproof.load_run(grid_run(tmp_path / "grid"))
    frame = run.to_frame()
    assert len(frame.fetchall()) == len(run.cells) == len(load_run(tmp_path / "grid").cells)
    assert {"layout", "workload", "verdict", "iops", "iops_low", "p99_ns"} <= set(frame.columns)


def test_lint_and_audit_are_those_of_the_commands() -> None:
    rules = {each.rule for each in poolproof.lint("[j]\nrw=randread\nioengine=psync\niodepth=32\n")}
    assert "iodepth-with-sync-engine" in rules
    [audited] = poolproof.audit(TEXT, ram="64G")
    assert audited.verdict in ("refuted", "suspect", "unproven")


def test_importing_poolproof_imports_nothing_else() -> None:
    code = "import sys, poolproof; print(sorted(name for name in sys.modules if name.startswith('poolproof')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['poolproof', 'poolproof.version']"


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        poolproof.nothing_of_the_kind  # noqa: B018


def test_a_wrong_type_is_one_clear_error(message: Message) -> None:
    as_bytes: Any = b"read: IOPS=1"
    as_path: Any = Path("job.fio")
    for wrong, fact in (
        (lambda: poolproof.audit(as_bytes), "bytes"),
        (lambda: poolproof.lint(as_path), "PosixPath"),
        (lambda: poolproof.audit("read: IOPS=1", devices="sda"), "`devices`"),
    ):
        with pytest.raises(UsageError, match=fact) as refused:
            wrong()
        message(refused.value)


@pytest.mark.slow
def test_type_checkers_read_the_types_of_the_package() -> None:
    program = "import poolproof\nreveal_type(poolproof.load_run('run'))\n"
    argv = [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", "-c", program]
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=110, check=False, cwd="/")
    assert 'Revealed type is "poolproof.api.Run"' in answer.stdout
