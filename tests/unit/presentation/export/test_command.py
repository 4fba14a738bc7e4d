"""The command `poolproof export`."""

import json
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from poolproof.files import writing
from poolproof.files.folder import Folder
from poolproof.results.runs.directory import RunDirectory
from tests.golden import Message
from tests.unit.command import Command
from tests.unit.results.compare.making import make_run

from .making import grid_run, nasty_run, table, trials_of

FORMATS = ["csv", "parquet", "dat", "markdown", "openmetrics", "influx"]


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    monkeypatch.chdir(tmp_path)
    return Command(monkeypatch, capsys)


@pytest.mark.parametrize("name", ["csv", "markdown", "openmetrics", "influx"])
def test_text_is_printed(poolproof: Command, name: str) -> None:
    grid_run(Path("grid"))
    code, out, err = poolproof("export", "grid", f"--{name}")
    assert (code, err) == (0, "")
    assert "mirror" in out


@pytest.mark.parametrize("name", FORMATS)
def test_json_says_what_was_written(poolproof: Command, name: str) -> None:
    grid_run(Path("grid"))
    code, out, _ = poolproof("export", "grid", f"--{name}", "--json", "--out", "here/it")
    found = json.loads(out)
    assert code == 0
    assert found["written"] and all(Path(path).stat().st_size for path in found["written"])
    assert (found["format"], found["cells"], found["rejected"]) == (name, 36, 3)


def test_nothing_is_written_over_that_was_not_named(poolproof: Command) -> None:
    grid_run(Path("grid"))
    assert poolproof("export", "grid", "--parquet")[0] == 0
    code, _, err = poolproof("export", "grid", "--parquet")
    assert code == 2
    assert "grid.parquet" in err and "--out" in err
    assert poolproof("export", "grid", "--parquet", "--out", "grid.parquet")[0] == 0


@pytest.mark.parametrize("name", ["parquet", "dat"])
def test_no_link_that_came_with_the_run_is_written_through(poolproof: Command, name: str) -> None:
    """A run from a stranger can come in an archive that also contains links with the names of the run's exports."""
    make_run(Path("small"), {("one", "reads"): (1.0,)})
    precious, folder = Path("precious").resolve(), Path("folder").resolve()
    folder.mkdir()
    for words in ((), ("--out", "it")):
        code, out, _ = poolproof("export", "small", "--format", name, "--json", *words)
        first = Path(json.loads(out)["written"][0])
        precious.write_text("precious")
        first.unlink()
        first.symlink_to(precious)
        code, _, err = poolproof("export", "small", "--format", name, *words)
        assert precious.read_text() == "precious", err
        assert first.is_symlink() == (code != 0)
        if name != "parquet":
            shutil.rmtree(first.parts[0])
            place = Path(*first.parts[:2])
            place.parent.mkdir()
            place.symlink_to(folder)
            assert poolproof("export", "small", "--format", name, *words)[0] == 2
            place.unlink()
            place.parent.rmdir()
        elif not words:
            first.unlink()
            first.symlink_to(folder / "new")
            assert poolproof("export", "small", "--format", name)[0] == 2
        assert list(folder.iterdir()) == []
    Path("small-plots").symlink_to(folder)
    assert poolproof("export", "small", "--format", "svg")[0] == 2
    assert list(folder.iterdir()) == []


def test_a_device_or_open_file_that_was_named_is_written_to(poolproof: Command) -> None:
    grid_run(Path("grid"))
    for name in ("/dev/null", "/dev/fd/1"):
        assert poolproof("export", "grid", "--csv", "--out", name)[0] == 0
        assert not stat.S_ISREG(os.lstat(name).st_mode)


def test_a_fifo_that_was_named_is_written_to_but_not_waited_for(
    poolproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_READER_S", 0.1)
    grid_run(Path("grid"))
    os.mkfifo("fifo")
    code, _, err = poolproof("export", "grid", "--csv", "--out", "fifo")
    assert (code, "fifo cannot be written: it is a FIFO that no program reads" in err) == (2, True)
    reader = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert poolproof("export", "grid", "--csv", "--out", "fifo")[0] == 0
        assert os.read(reader, 4) == b"run,"
    finally:
        os.close(reader)


def test_a_link_to_a_device_that_was_named_is_not_followed(poolproof: Command) -> None:
    """A stranger's archive can contain a link to a device that has an effect when it is opened, such as a watchdog."""
    grid_run(Path("grid"))
    Path("link").symlink_to("/dev/null")
    code, _, err = poolproof("export", "grid", "--csv", "--out", "link")
    assert (code, "it is a link to a character device" in err) == (2, True)


def test_a_block_device_that_was_named_is_not_written_to(poolproof: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in for the device is a file in /dev/shm, which shows whether anything was written."""
    grid_run(Path("grid"))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        device = Path(folder, "disk")
        device.write_text("data")
        kind = Folder.kind
        monkeypatch.setattr(
            Folder, "kind", lambda folder, name: "a block device" if name == "disk" else kind(folder, name)
        )
        code, _, err = poolproof("export", "grid", "--csv", "--out", str(device))
        assert (code, device.read_text()) == (2, "data")
        assert "it is a block device, not a regular file" in err


def test_a_link_in_dev_is_replaced_and_not_followed(poolproof: Command) -> None:
    """Every user can create files in /dev/shm."""
    grid_run(Path("grid"))
    precious = Path("precious").resolve()
    precious.write_text("data")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        link = Path(folder, "link")
        link.symlink_to(precious)
        code, _, _ = poolproof("export", "grid", "--csv", "--out", str(link))
        assert precious.read_text() == "data"
        assert code == 2 and link.is_symlink()


def test_an_export_is_no_more_public_than_its_run(poolproof: Command) -> None:
    (grid_run(Path("grid")) / "run.json").chmod(0o600)
    assert poolproof("export", "grid", "--parquet")[0] == 0
    assert stat.S_IMODE(Path("grid.parquet").stat().st_mode) == 0o600


@pytest.mark.parametrize("words", [(), ("--csv", "--dat")])
def test_one_format_at_a_time(poolproof: Command, words: tuple[str, ...]) -> None:
    grid_run(Path("grid"))
    code, _, err = poolproof("export", "grid", *words)
    assert code == 2
    assert "--openmetrics" in err


def test_a_place_that_cannot_be_written_to_is_named(poolproof: Command) -> None:
    grid_run(Path("grid"))
    Path("file").write_text("")
    code, _, err = poolproof("export", "grid", "--csv", "--out", "file/below.csv")
    assert code == 2
    assert "file/below.csv cannot be written" in err


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_without_a_trial_gives_a_whole_file(poolproof: Command, name: str) -> None:
    trials_of(Path("empty"), [])
    code, out, err = poolproof("export", "empty", f"--{name}", "--json", "--out", "it")
    assert (code, err, json.loads(out)["cells"]) == (0, "", 0)


@pytest.mark.parametrize("name", FORMATS)
def test_names_that_are_markup_do_no_harm(poolproof: Command, name: str) -> None:
    nasty_run(Path("nasty"))
    code, out, err = poolproof("export", "nasty", f"--{name}", "--json", "--out", "it")
    assert (code, err, json.loads(out)["cells"]) == (0, "", 2)
    assert all(Path(path).resolve().is_relative_to(Path("it").resolve()) for path in json.loads(out)["written"])


@pytest.mark.parametrize(("schema", "word"), [(2, "newer"), (0, "older")])
@pytest.mark.parametrize("name", FORMATS)
def test_trials_of_another_schema_are_named_and_the_rest_is_written(
    poolproof: Command, name: str, schema: int, word: str
) -> None:
    path = grid_run(Path("grid")) / "trials.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    others = [line.replace('"schema":1}', f'"schema":{schema}}}') for line in lines[:2]]
    path.write_text("".join([*others, *lines[2:]]), encoding="utf-8")
    code, out, err = poolproof("export", "grid", f"--{name}", "--out", "it")
    assert (code, out[:2]) == (7, "it")
    assert all(fact in err for fact in ("missing: 2 trials", "trials.jsonl", f" {word} "))
    assert Path("it").exists()


def test_a_damaged_trial_is_left_out_and_counted(poolproof: Command, message: Message) -> None:
    path = grid_run(Path("grid")) / "trials.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"figures"', b'"figu', 1))
    code, out, err = poolproof("export", "grid", "--csv")
    assert code == 7
    assert message(err).startswith("missing: 1 trial ") and "trials.jsonl is damaged" in err
    assert len(out.splitlines()) == 36  # the heading, and all cells except one whose only trial this was


def test_without_run_json_the_figures_are_there_all_the_same(poolproof: Command, message: Message) -> None:
    whole = table(grid_run(Path("grid")))
    (Path("grid") / "run.json").unlink()
    code, out, _ = poolproof("export", "grid", "--csv", "--json", "--out", "it")
    said = json.loads(out)
    assert (code, said["cells"]) == (7, len(whole.rows))
    (gap,) = said["missing"]
    assert message(gap).startswith("run.json ")


def test_a_run_still_going_gives_the_cells_that_are_done(tmp_path: Path) -> None:
    whole = table(grid_run(tmp_path / "grid"))
    run = trials_of(tmp_path / "going", RunDirectory.open(tmp_path / "grid").trials()[:10])
    with (run / "trials.jsonl").open("ab") as file:
        file.write(b'{"layout":"mir')
    assert [row.cell.layout for row in table(run).rows] == ["mirror"] * 6
    assert len(whole.rows) == 36
