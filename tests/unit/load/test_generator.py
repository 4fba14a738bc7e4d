"""A load generator is one folder: no other code depends on fio, and a second generator needs no other change."""

import ast
import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof import load, process
from poolproof.campaign.flags import parse_workload_flag
from poolproof.campaign.generator_option import DEFAULT_BIN_WIDTH
from poolproof.errors import CampaignError
from poolproof.lab.contents import generator_packages
from poolproof.lab.recipe import Recipe
from poolproof.load.fio.generator import GENERATOR
from poolproof.load.generator import all_generators, described, generator_for
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Direction, Outcome, PartOutcome
from poolproof.rules.judge import judge, lint
from poolproof.rules.model import Case
from tests.unit.command import Command
from tests.unit.load.more.toy.generator import GENERATOR as TOY

_SOURCE = Path(__file__).parents[3] / "src" / "poolproof"
_MAY_KNOW_FIO = ("load/fio/", "foreign/", "rules/fio_job.py", "rules/kib_means_1000.py")
_MORE = Path(__file__).parent / "more"
_LIMIT_S = 120.0
_RUN = (
    "import sys; from poolproof import load; load.__path__.append(sys.argv.pop(1)); "
    "from poolproof.cli.main import main; main()"
)


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_only_foreign_texts_and_rules_about_fio_import_fio() -> None:
    knowing = {
        str(path.relative_to(_SOURCE))
        for path in _SOURCE.rglob("*.py")
        if any(name.startswith("poolproof.load.fio") for name in _imports(path))
    }
    assert {path for path in knowing if not path.startswith(_MAY_KNOW_FIO)} == set()


def test_generators_are_found_by_their_folders() -> None:
    assert all_generators() == {"fio": GENERATOR}
    assert described("x", {"rw": "randwrite", "blocksize": "8k"}).block_bytes == 8192


def test_a_workload_selects_its_generator() -> None:
    (plain,) = parse_workload_flag("rw=read,bs=1m")
    (named,) = parse_workload_flag("rw=read,bs=1m,generator=fio")
    assert generator_for(plain) is generator_for(named) is GENERATOR
    (unknown,) = parse_workload_flag("rw=read,bs=1m,generator=toy")
    with pytest.raises(CampaignError, match=r"\bfio\b"):
        generator_for(unknown)


@pytest.fixture(scope="module")
def toy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the toy generator in an existing directory on this machine."""
    folder = tmp_path_factory.mktemp("toy")
    completed = _run_toy(folder, "generator=toy,mib=4")
    assert completed.returncode == 0, completed.stderr
    return folder / "run"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """The command line, which can also find the toy generator. Nothing else is changed."""
    monkeypatch.setattr(load, "__path__", [*load.__path__, str(_MORE)])
    all_generators.cache_clear()
    yield Command(monkeypatch, capsys)
    all_generators.cache_clear()
    for name in ("toy", "toy.generator"):
        sys.modules.pop(f"{load.__name__}.{name}", None)


def test_a_second_generator_needs_only_one_folder(toy_run: Path, command: Command) -> None:
    _check_saved(toy_run)
    _, text, _ = command("audit", str(toy_run), "--json")
    (audited,) = json.loads(text)
    assert (audited["verdict"], audited["known"]) == (audited["verdict_then"], [])
    assert audited["figures"]["write"]["iops"] > 0 and audited["rerun"] is None


def test_its_results_are_shown_and_exported(toy_run: Path, command: Command) -> None:
    (trial,) = [json.loads(line) for line in (toy_run / "trials.jsonl").read_text().splitlines()]
    _, shown, _ = command("show", str(toy_run))
    assert "generatortoy-mib4, IOPS" in shown and trial["verdict"] in shown
    (cell,) = json.loads(command("show", str(toy_run), "--json")[1])["cells"]
    assert cell["verdict"] == trial["verdict"]
    assert cell["rates"]["write_iops"] == trial["figures"]["write_iops"] > 0
    (row,) = csv.DictReader(io.StringIO(command("export", str(toy_run), "--csv")[1]))
    assert row["verdict"] == trial["verdict"] and float(row["iops"]) == trial["figures"]["iops"]
    metrics = command("export", str(toy_run), "--openmetrics")[1]
    assert 'layout="here"' in metrics and "toy's I/Os per second" in metrics
    assert "here" in command("export", str(toy_run), "--markdown")[1]


def test_the_page_shows_the_saved_load_of_the_generator(toy_run: Path, tmp_path: Path, command: Command) -> None:
    page = tmp_path / "report.html"
    command("report", str(toy_run), "--out", str(page))
    text = page.read_text()
    assert "Exact jobs (1)" in text
    assert "write 4194304 bytes to" in text
    assert "is missing for" not in text
    assert "toy ran for" in text
    assert '"generators":["toy"]' in text


def test_the_image_of_the_lab_has_its_packages() -> None:
    printing = "import sys; from poolproof import load; load.__path__.append(sys.argv[1]); "
    printing += "from poolproof.lab.contents import generator_packages; print(*generator_packages())"
    packages = process.run([sys.executable, "-c", printing, str(_MORE)], timeout_s=_LIMIT_S).stdout.split()
    assert set(packages) == {*GENERATOR.packages, *TOY.packages} and set(generator_packages()) <= set(
        Recipe("2.1", "bookworm", ()).packages
    )


def test_its_load_decides_which_metric_it_can_give(tmp_path: Path) -> None:
    accepted = _run_toy(tmp_path, "generator=toy,mib=1,metric=sync_p99", "--dry-run")
    assert accepted.returncode == 0, accepted.stderr
    dry = _run_toy(tmp_path, "generator=toy,mib=1", "--dry-run", as_json=False)
    assert "toy" in dry.stdout and "`directory`" in dry.stdout
    refused = _run_toy(tmp_path, "generator=toy,mib=1,sync=0,metric=sync_p99", "--dry-run")
    assert refused.returncode == CampaignError.exit_code
    assert "never syncs" in refused.stdout


def test_its_latency_bins_limit_the_tolerance(tmp_path: Path) -> None:
    assert GENERATOR.bin_width == DEFAULT_BIN_WIDTH
    refused = _run_toy(tmp_path, "generator=toy,mib=1,metric=p99", "--until", "5%", "--dry-run")
    assert refused.returncode == CampaignError.exit_code
    assert "toy" in refused.stdout and "bins" in refused.stdout


def test_rules_state_fio_defaults_only_for_fio_jobs() -> None:
    part = LoadPart("x", writes=True, is_synchronous=True, depth=8, source="/data/x")
    messages = {found.rule: found.message for found in lint(Case(Load((part,), "toy")))}
    assert "default" not in messages["sequential-iops"]
    assert "ioengine" not in messages["iodepth-with-sync-engine"]
    job = described("x", {"rw": "write", "iodepth": "8"})
    messages = {found.rule: found.message for found in lint(Case(Load((job,))))}
    assert "default is 4k" in messages["sequential-iops"]
    assert "ioengine=psync" in messages["iodepth-with-sync-engine"]


def test_messages_of_rules_name_the_generator() -> None:
    idle = PartOutcome("x", write=Direction(io_bytes=0, ios=0))
    for generator in ("toy", "fio"):
        case = Case(Load((LoadPart("x", writes=True),), generator), Outcome("1", (idle,)))
        (work,) = (found for found in judge(case, "iops").findings if found.rule == "work-done")
        assert work.message.startswith(f"{generator} ")


def _run_toy(tmp_path: Path, workload: str, *options: str, as_json: bool = True) -> process.Completed:
    target = tmp_path / "target"
    target.mkdir(exist_ok=True)
    argv = [
        sys.executable, "-c", _RUN, str(_MORE), "run", "--layout", f"here=dir {target}", "--workload", workload,
        "--trials", "1", *([] if "--until" in options else ["--time", "1s"]),
        "--work", str(tmp_path), "--out", str(tmp_path / "run"), *(["--json"] if as_json else []), *options,
    ]  # fmt: skip
    return process.run(argv, timeout_s=_LIMIT_S, check=False)


def _check_saved(run: Path) -> None:
    record = json.loads((run / "run.json").read_text())
    assert record["versions"]["toy"] == "toy-1"
    (trial,) = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    assert trial["verdict"] in ("sound", "unproven", "suspect")
    assert (
        trial["figures"]["write_iops"] > 0
        and trial["figures"]["write_p50_ns"] > 0
        and trial["bin_width"] == TOY.bin_width
    )
    (directory,) = (run / "cells").glob("*/*/1")
    assert {TOY.load_file, TOY.report_file, "evidence.json"} <= {path.name for path in directory.iterdir()}
