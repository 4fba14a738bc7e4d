"""No file of a run, and no output about it, contains a secret of the environment or of other programs."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loop.command import ask
from tests.loop.testbed import Testbed

_CAMPAIGN = """
devices: {a: {file: 256M}, b: {emulate: nvme, size: 512M}}
layouts: {one: a | ext4, two: b | xfs, found: 'dir {data}'}
workloads: {reads: {rw: randread, bs: 16k, size: 16m}}
measure: {trials: 1, time: 2s}
"""
_OF_ENVIRONMENT, _OF_ARGUMENTS, _OF_NAME = "Ohr8aish5Eeg", "phe3Ahtoo9Zu", "oov7Eicoo5Sh"


@pytest.fixture
def busy() -> Iterator[None]:
    """A program with a secret on its command line, which uses enough processor time to be noticed in the results."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass", f"--password={_OF_ARGUMENTS}"]) as program:
        yield
        program.kill()


@pytest.mark.usefixtures("busy")
def test_no_file_and_no_output_contains_a_secret(testbed: Testbed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKUP_PASSWORD", _OF_ENVIRONMENT)
    monkeypatch.setenv(_OF_NAME, "1")
    (testbed.data / "notes.txt").write_text(f"a file next to the test files: {_OF_ARGUMENTS}\n")
    answer = testbed.ask(_CAMPAIGN)
    assert answer.code == 0, answer.out + answer.err
    run = testbed.runs / "run"
    report = testbed.path / "report.html"
    outputs = [answer, ask("show", str(run)), ask("report", str(run), "--out", str(report))]
    texts = {str(path): path.read_bytes() for path in (*_files(run), report)}
    texts |= {f"output {number}": f"{each.out}{each.err}".encode() for number, each in enumerate(outputs)}
    assert any(path.endswith("evidence.json") for path in texts)
    assert b"other" in texts[str(next(path for path in _files(run) if path.name == "evidence.json"))]
    found = [
        (name, secret)
        for name, text in texts.items()
        for secret in (_OF_ENVIRONMENT, _OF_ARGUMENTS, _OF_NAME)
        if secret.encode() in text
    ]
    assert found == []


def _files(run: Path) -> list[Path]:
    return [path for path in run.rglob("*") if path.is_file()]
