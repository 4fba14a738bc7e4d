"""Imports of other people's results: cells, columns, verdicts, and files that are left out."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from poolproof.campaign.names import is_name
from poolproof.cli.main import app_for
from poolproof.errors import FioError, RunError, UsageError
from poolproof.foreign.audit.context import Context
from poolproof.foreign.importing.imported_run import import_results
from poolproof.presentation.charts.axis_positions import places
from poolproof.presentation.export.pictures import pictures
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import load_run
from poolproof.results.runs.model import Trial
from tests.golden import Message

RESULT: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "audit" / "cases" / "cold-reads.json").read_text(encoding="utf-8")
)


def _write(path: Path, stamp_s: int = 1_700_000_000, **options: str) -> None:
    document = json.loads(json.dumps(RESULT))
    document["jobs"][0]["job options"].update(options)
    document["timestamp_ms"] = stamp_s * 1000
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))


def _imported(source: Path, layout_from: str | None = None) -> tuple[Trial, ...]:
    done = import_results([source], source.parent / "run", Context(), layout_from=layout_from)
    return RunDirectory.open(done.path).trials()


def test_the_tree_of_bench_fio(tmp_path: Path) -> None:
    for target in ("mirror", "raidz"):
        for bs in ("4k", "1m"):
            for depth in ("1", "16"):
                for run in ("1", "2"):
                    folder = tmp_path / "out" / target / bs / f"run-{run}"
                    _write(folder / f"randread-{depth}-1.json", 1_700_000_000 + int(run), bs=bs, iodepth=depth)
        _write(tmp_path / "out" / target / "randrw75" / "4k" / "randrw-16-1.json", rw="randrw", rwmixread="75", bs="4k")
    trials = _imported(tmp_path / "out")
    assert {trial.layout for trial in trials} == {"mirror", "raidz"}
    assert {trial.workload for trial in trials if trial.layout == "raidz"} >= {
        "fio[rw=randread,bs=4k,iodepth=16]",
        "fio[rw=randread,bs=1m,iodepth=1]",
    }
    assert sorted(trial.number for trial in trials if trial.workload == "fio[rw=randread,bs=4k,iodepth=16]") == [
        1,
        1,
        2,
        2,
    ]


@pytest.mark.parametrize("command", [["rank"], ["report"], ["compare", "--layouts", "ssd,hdd"], ["export", "--csv"]])
def test_every_command_reads_an_imported_run(tmp_path: Path, command: list[str]) -> None:
    for layout in ("ssd", "hdd"):
        _write(tmp_path / "in" / layout / "a.json")
    name, *words = command
    run = import_results([tmp_path / "in"], tmp_path / "run", Context()).path
    done = CliRunner().invoke(app_for([name]), [name, str(run), *words])
    assert done.exit_code == 0, done.exception
    assert "this machine" not in done.stdout


@pytest.mark.parametrize(("fsync", "panel"), [("0", "randwrite, async"), ("1", "randwrite, sync")])
def test_charts_show_the_mode_that_all_results_share(tmp_path: Path, fsync: str, panel: str) -> None:
    for bs in ("4k", "64k"):
        _write(tmp_path / "in" / f"{bs}.json", rw="randwrite", bs=bs, fsync=fsync)
    run = load_run(import_results([tmp_path / "in"], tmp_path / "run", Context()).path)
    assert {place.panel for place in places(run.campaign.workloads).values()} == {panel}
    assert {picture.place.parts[1] for picture in pictures(run)} == {"randwrite"}


def test_folders_are_layouts_and_columns_contain_the_names(tmp_path: Path) -> None:
    _write(tmp_path / "in" / "ssd" / "a.json")
    _write(tmp_path / "in" / "hdd" / "a.json")
    trials = _imported(tmp_path / "in")
    assert {trial.layout for trial in trials} == {"ssd", "hdd"}
    first = trials[0]
    assert first.columns["folder1"] == first.layout
    assert first.columns["file"] == "a"
    assert first.columns["rw"] == "randread"
    assert first.source.endswith("a.json:1")
    assert first.begun_at.startswith("2023-11-14T22:13")


@pytest.mark.parametrize("names", [("x" * 70 + "-mirror", "x" * 70 + "-raidz"), ("a+b", "a-b"), ("mirror", "mirror!")])
def test_names_that_are_alike_when_shortened_stay_apart(tmp_path: Path, names: tuple[str, str]) -> None:
    for name in names:
        _write(tmp_path / "in" / name / "a.json")
        _write(tmp_path / "in" / name / "b.json", bssplit=f"4k/50:8k/50:{name}")
    trials = _imported(tmp_path / "in")
    assert {trial.number for trial in trials} == {1}
    assert len({trial.layout for trial in trials}) == 2
    assert len({trial.workload for trial in trials}) == 3
    assert all(is_name(trial.layout) for trial in trials)


def test_a_file_that_is_named_several_times_is_one_result(tmp_path: Path) -> None:
    folder, file = tmp_path / "in", tmp_path / "in" / "a.json"
    _write(file)
    (folder / "link.json").symlink_to("a.json")
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    done = import_results([file, folder, file, loop], tmp_path / "run", Context())
    assert [trial.source for trial in done.trials] == [f"{file}:1"]
    assert [each.source for each in done.unread] == [str(loop)]


def test_files_of_one_job_are_layouts_without_repetition_numbers(tmp_path: Path) -> None:
    for name in ("mirror-1", "mirror-2", "raidz-1"):
        _write(tmp_path / "in" / f"{name}.json")
    cells = {(trial.layout, trial.number) for trial in _imported(tmp_path / "in")}
    assert cells == {("mirror", 1), ("mirror", 2), ("raidz", 1)}


@pytest.mark.parametrize(
    ("names", "layouts"),
    [
        (("r1", "r2", "r3"), {"r1", "r2", "r3"}),
        (("raidz1", "raidz2"), {"raidz1", "raidz2"}),
        (("run-1", "run-2", "other_1"), {"run", "other"}),
        (("x-run1", "x-run2", "y_run_1"), {"x", "y"}),
    ],
)
def test_a_number_counts_repetitions_only_after_a_separator(
    tmp_path: Path, names: tuple[str, ...], layouts: set[str]
) -> None:
    for name in names:
        _write(tmp_path / "in" / f"{name}.json")
    assert {trial.layout for trial in _imported(tmp_path / "in")} == layouts


def test_files_of_different_jobs_keep_their_numbers(tmp_path: Path) -> None:
    for number, depth in (("1", "4"), ("2", "8")):
        _write(tmp_path / "in" / f"x-{number}.json", iodepth=depth)
    assert {trial.layout for trial in _imported(tmp_path / "in", layout_from="file")} == {"x-1", "x-2"}


def test_an_option_can_name_the_layouts(tmp_path: Path) -> None:
    for index, target in enumerate(("/mnt/a", "/mnt/b")):
        _write(tmp_path / "in" / f"{index}.json", directory=target)
    trials = _imported(tmp_path / "in", layout_from="directory")
    assert {trial.layout for trial in trials} == {"mnt-a", "mnt-b"}


def test_an_option_that_no_job_has_is_refused(tmp_path: Path, message: Message) -> None:
    _write(tmp_path / "in" / "a.json")
    with pytest.raises(UsageError, match="iodepth_batch") as refused:
        _imported(tmp_path / "in", layout_from="iodepth_batch")
    message(refused.value)


def test_a_text_keeps_its_verdicts(tmp_path: Path) -> None:
    post = Path(__file__).parents[1] / "audit" / "cases" / "zvol-post.md"
    done = import_results([post], tmp_path / "run", Context())
    verdicts = sorted(trial.verdict for trial in done.trials)
    assert verdicts == ["refuted", "sound", "suspect", "suspect", "unproven"]
    assert {trial.metric for trial in done.trials} == {"bandwidth"}


def test_a_missing_value_is_not_zero(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("READ: bw=17.6MiB/s (18.5MB/s), io=1024MiB (1074MB), run=58029-58029msec\n")
    (trial,) = import_results([tmp_path / "a.txt"], tmp_path / "run", Context()).trials
    assert trial.figures is not None
    assert trial.figures.iops is None
    assert trial.figures.bandwidth_bytes == pytest.approx(18.5e6)


def test_logs_are_imported_if_there_is_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x_clat.1.log").write_text("".join(f"{at}, {1000 * at}, 0, 4096, 0\n" for at in range(1, 101)))
    (trial,) = _imported(tmp_path / "in")
    assert trial.figures is not None
    assert trial.figures.p99_ns == pytest.approx(99_000, rel=0.01)
    assert trial.metric == "p99"


def _log(folder: Path, name: str, kind: str = "iops") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}_{kind}.1.log").write_text("".join(f"{1000 * at}, 90, 0, 0, 0\n" for at in range(1, 9)))


def test_logs_are_a_result_if_their_folder_contains_none(tmp_path: Path) -> None:
    _write(tmp_path / "in" / "a" / "x.json")
    _log(tmp_path / "in" / "b", "x")
    done = import_results([tmp_path / "in"], tmp_path / "run", Context())
    assert sorted((trial.layout, Path(trial.source).name) for trial in done.trials) == [
        ("a", "x.json:1"),
        ("b", "x_iops.1.log:1"),
    ]
    assert not done.unread


@pytest.mark.parametrize(
    ("result", "options", "folder", "log"),
    [
        ("x.json", {}, ".", "x"),
        ("x.json", {"write_iops_log": "far/y"}, ".", "y"),
        ("x.json", {"write_bw_log": "logs/y"}, "logs", "y"),
        ("x.json", {"write_lat_log": ""}, ".", RESULT["jobs"][0]["jobname"]),
        ("randread-16-4.json", {}, ".", "randread-iodepth-16-numjobs-4"),
    ],
)
def test_logs_of_a_whole_result_add_nothing(
    tmp_path: Path, result: str, options: dict[str, str], folder: str, log: str
) -> None:
    _write(tmp_path / "in" / result, 1_700_000_000, **options)
    _log(tmp_path / "in" / folder, log)
    done = import_results([tmp_path / "in"], tmp_path / "run", Context())
    assert (len(done.trials), done.unread) == (1, [])


def test_logs_with_the_name_of_a_result_in_a_parent_folder_are_imported(tmp_path: Path) -> None:
    _write(tmp_path / "in" / "x.json", write_bw_log="x")
    _log(tmp_path / "in" / "b", "x")
    assert len(import_results([tmp_path / "in"], tmp_path / "run", Context()).trials) == 2


def test_unrequested_logs_in_a_folder_with_a_result_are_reported(tmp_path: Path, message: Message) -> None:
    _write(tmp_path / "in" / "x.json")
    _log(tmp_path / "in", "other")
    _log(tmp_path / "in", "other", "bw")
    done = import_results([tmp_path / "in"], tmp_path / "run", Context())
    assert len(done.trials) == 1
    ((source, why),) = ((each.source, each.why) for each in done.unread)
    assert source == str(tmp_path / "in" / "other_*.log")
    assert "result" in message(why)


@pytest.mark.parametrize("runtime_ms", [10**13, 10**18, 10**300])
def test_a_damaged_runtime_loses_only_the_start_time(tmp_path: Path, runtime_ms: int) -> None:
    document = json.loads(json.dumps(RESULT))
    document["jobs"][0]["read"]["runtime"] = runtime_ms
    document["timestamp_ms"] = 1_700_000_000_000
    (tmp_path / "a.json").write_text(json.dumps(document))
    _write(tmp_path / "b.json")
    done = import_results([tmp_path / "a.json", tmp_path / "b.json"], tmp_path / "run", Context())
    begun = {Path(trial.source).name: trial.begun_at for trial in done.trials}
    assert begun["b.json:1"].startswith("2023-11-14T22:13")
    assert not begun["a.json:1"].startswith("1")


def test_a_damaged_log_is_reported_and_the_rest_imported(tmp_path: Path, message: Message) -> None:
    _log(tmp_path / "in" / "a", "x")
    (tmp_path / "in" / "b_bw.1.log").write_text("1000, 9, 0, 0, 0\n1700000000000000, 9, 0, 0, 0\n")
    done = import_results([tmp_path / "in"], tmp_path / "run", Context())
    assert len(done.trials) == 1
    assert [" 1000 to 1700000000000000 ms" in message(each.why) for each in done.unread] == [True]


def test_unreadable_files_are_reported_and_left_out(tmp_path: Path) -> None:
    _write(tmp_path / "in" / "a.json")
    (tmp_path / "in" / "b.json").write_text('{"fio version": "fio-3.33", "jobs": [')
    (tmp_path / "in" / "c.png").write_bytes(b"\x89PNG\0\0")
    done = CliRunner().invoke(
        app_for(), ["import", str(tmp_path / "in"), str(tmp_path / "no"), "--out", str(tmp_path / "run")]
    )
    assert done.exit_code == FioError.exit_code
    assert len(RunDirectory.open(tmp_path / "run").trials()) == 1
    assert all(name in done.stderr for name in ("b.json", "c.png", str(tmp_path / "no")))


def test_no_run_is_created_if_there_is_nothing_to_import(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no figures here\n")
    with pytest.raises(FioError, match="no result in"):
        import_results([tmp_path / "a.txt"], tmp_path / "run", Context())
    assert not (tmp_path / "run").exists()


def test_show_reads_it_and_resume_refuses(tmp_path: Path) -> None:
    _write(tmp_path / "in" / "ssd" / "a.json")
    _write(tmp_path / "in" / "hdd" / "a.json")
    import_results([tmp_path / "in"], tmp_path / "run", Context())
    shown = json.loads(CliRunner().invoke(app_for(), ["show", "--json", str(tmp_path / "run")]).stdout)
    assert sorted(cell["layout"] for cell in shown["cells"]) == ["hdd", "ssd"]
    refused = CliRunner().invoke(app_for(), ["resume", str(tmp_path / "run")])
    assert isinstance(refused.exception, RunError)


def test_the_command_counts_what_it_saved(tmp_path: Path) -> None:
    _write(tmp_path / "in" / "ssd" / "a.json")
    _write(tmp_path / "in" / "hdd" / "a.json")
    saved = CliRunner().invoke(app_for(), ["audit", str(tmp_path / "in"), "--save", str(tmp_path / "run")])
    assert saved.stdout.startswith("2 results, 2 layouts, 1 workload: ")
