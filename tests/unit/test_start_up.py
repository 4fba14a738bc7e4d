"""Commands import only what they need, because every import takes time and memory."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from poolproof.cli.main import NAMES

_LIMIT_S = 60
_WEB = {"starlette", "uvicorn", "anyio"}
_HEAVY = _WEB | {"numpy", "scipy", "pandas", "polars", "altair", "duckdb", "pydantic", "jinja2", "matplotlib", "rich"}
_NOT_FOR_HELP = _HEAVY | {"lark", "ruamel", "msgspec"}
_MODULES = """
import json, sys
from poolproof.cli.main import main
sys.argv[0] = "poolproof"
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    print("\\n" + json.dumps(sorted(sys.modules)))
"""


def _imported_by(*arguments: str) -> set[str]:
    """Return the top-level names of all modules that a command has imported by the time it ends."""
    return {name.split(".")[0] for name in _modules_of(*arguments)}


def _modules_of(*arguments: str) -> set[str]:
    argv = [sys.executable, "-c", _MODULES, *arguments]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=_LIMIT_S, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(f"layouts:\n  here: dir {tmp_path}\nworkloads:\n  reads: {{rw: read, bs: 4k, size: 1m}}\n")
    return path


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["run", "--help"]], ids=" ".join)
def test_help_imports_next_to_nothing(arguments: list[str]) -> None:
    assert not _imported_by(*arguments) & _NOT_FOR_HELP


def test_a_run_imports_nothing_heavy_before_it_measures(campaign: Path) -> None:
    assert not _imported_by("run", str(campaign), "--dry-run", "--work", str(campaign.parent)) & _HEAVY


def test_a_whole_run_for_machines_imports_nothing_heavy(campaign: Path, tmp_path: Path) -> None:
    words = ["run", str(campaign), "--time", "200ms", "--trials", "1", "--json"]
    assert not _imported_by(*words, "--out", str(tmp_path / "run"), "--work", str(tmp_path)) & _HEAVY


def test_a_command_imports_no_other() -> None:
    modules = {name: f"poolproof.cli.{name}{'_' if name == 'import' else ''}" for name in NAMES}
    assert _modules_of("rules", "--help") & set(modules.values()) == {modules["rules"]}


@pytest.mark.parametrize("words", ["presets", "check --json none.yaml", "--help"])
@pytest.mark.parametrize("place", ["/dev/full", "/proc/{}/mem"])
def test_an_answer_that_cannot_be_printed(words: str, place: str) -> None:
    """Standard output is on a full disk, or on one that returns EIO. This causes one clear error."""
    argv = [sys.executable, "-c", "from poolproof.cli.main import main; main()", *words.split()]
    with Path(place.format(os.getpid())).open(
        "r+b", buffering=0
    ) as out:  # the first page of a process is not mapped: EIO
        done = subprocess.run(argv, stdout=out, stderr=subprocess.PIPE, text=True, timeout=_LIMIT_S, check=False)
    assert done.returncode in (1, 3)
    assert done.stderr.startswith("poolproof: ")
    assert "Traceback" not in done.stderr and "bug" not in done.stderr
    assert len(done.stderr.splitlines()) <= 2


def test_a_reader_that_has_enough() -> None:
    argv = [sys.executable, "-c", "from poolproof.cli.main import main; main()", "presets"]
    program = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None and program.stderr is not None
    program.stdout.close()
    with program.stderr:
        said = program.stderr.read()
    assert (program.wait(timeout=_LIMIT_S), said) == (0, "")


@pytest.mark.parametrize(
    ("module", "heavy"),
    [("presentation.export.columns", {"altair", "jinja2"}), ("rules.rule_catalogue", {"altair", "jinja2", "ruamel"})],
)
def test_a_module_imports_nothing_heavy(module: str, heavy: set[str]) -> None:
    script = f"import json, sys, poolproof.{module}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=_LIMIT_S, check=True)
    assert not set(json.loads(done.stdout)) & heavy


@pytest.mark.parametrize(
    "line",
    ["{} rules >&-", "{} lint - <&-", "{} rules <&- >&- 2>&-", "COLUMNS=² PYTHONIOENCODING=ascii {} rules"],
)
def test_closed_streams_and_odd_surroundings_are_no_bug(line: str) -> None:
    command = line.format(f"{shlex.quote(sys.executable)} -c 'from poolproof.cli.main import main; main()'")
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=_LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
