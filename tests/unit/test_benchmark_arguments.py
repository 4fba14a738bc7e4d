"""`--help` prints how a benchmark is called. It starts no measurement and ends without a traceback."""

import runpy
import sys

import pytest

BENCHMARKS = (
    "ablation",
    "between_runs",
    "changing_rates",
    "court",
    "disturbed_trials",
    "false_winners",
    "fio_plot",
    "proof",
    "synthetic",
    "variance_parts",
)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_help_prints_the_command(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, f"benchmarks.{name}", raising=False)
    monkeypatch.setattr("sys.argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    assert ended.value.code == 0
    assert f"python -m benchmarks.{name}" in capsys.readouterr().out
