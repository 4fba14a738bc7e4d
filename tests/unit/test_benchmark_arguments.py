"""`--help` prints how a benchmark is called. It starts no measurement and ends without a traceback."""

import runpy
import sys
from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
BENCHMARKS = sorted(path.stem for path in _FOLDER.glob("*.py") if '__name__ == "__main__"' in path.read_text())


@pytest.mark.parametrize("name", BENCHMARKS)
def test_help_prints_the_command(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    monkeypatch.setattr("sys.argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    assert ended.value.code == 0
    command = "python -m benchmarks" if name == "__main__" else f"python -m benchmarks.{name}"
    assert command in capsys.readouterr().out
