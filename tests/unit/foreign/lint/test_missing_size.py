"""fio refuses a job without a size if none of its files exists. The expected results are those of fio 3.33."""

from pathlib import Path

import pytest

from poolproof.foreign.audit.context import read_context
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.sources import COMMAND
from poolproof.foreign.lint.targets import TargetLookup
from poolproof.hosts.local import LocalHost
from tests.unit.foreign.lint.making import source


@pytest.fixture
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("full").write_bytes(b"x" * 4096)
    Path("folder").mkdir()


def _refused(text: str, name: str = COMMAND, where: TargetLookup | None = None) -> list[str]:
    targets = where or TargetLookup(read_context(), LocalHost())
    found = lint(source(text, name), targets)
    return [each.message for each in found if (each.rule, each.severity) == ("refused-by-fio", "error")]


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize(
    "options",
    [
        "", "--io_size=1m", "--size=50%", "--size=0", "--runtime=5 --time_based", "--filename=gone", "--numjobs=4",
        "--filename=gone:lost", "--directory=folder", "--ioengine=null", "--ioengine=libaio --nrfiles=4",
    ],
)  # fmt: skip
def test_a_job_without_a_size_and_without_files_is_refused(options: str) -> None:
    [message] = _refused(f"fio --name=a --rw=read {options}\n")
    assert "size=" in message


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize(
    "options",
    [
        "--size=1m", "--size=$SIZE", "--filesize=1m --nrfiles=4", "--fill_device=1", "--filename=full",
        "--filename=gone:full", "--filename=/dev/no-such-disk", "--filename=/no-such-folder/file", "--filename=$FILE",
        "--ioengine=cpuio --cpuload=5", "--ioengine=rbd --pool=p --rbdname=r", "--opendir=folder", "$OPTIONS",
        "--parse-only", "--client=host",
    ],
)  # fmt: skip
def test_a_job_that_may_find_a_size_is_not_refused(options: str) -> None:
    assert _refused(f"fio --name=a --rw=read {options}\n") == []


@pytest.mark.usefixtures("_folder")
def test_a_job_with_the_name_of_a_folder_takes_its_size_from_it() -> None:
    assert _refused("fio --name=folder --rw=read\n") == []


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize(
    "script",
    [
        "cp other gone\nfio --name=a --rw=read --filename=gone\n",
        "F=gone\ncp other $F\nfio --name=a --rw=read --filename=$F\n",
        "fio --name=a --rw=write --size=1m\nfio --name=a --rw=read\n",
        "fio --name=a --rw=write --size=1m --filename=gone --name=b --rw=read --filename=gone --size=50%\n",
        "ssh host fio --name=a --rw=read\n",
        "docker run image fio --name=a --rw=read\n",
    ],
)
def test_a_file_that_the_script_creates_or_that_is_elsewhere(script: str) -> None:
    assert _refused(script, "bench.sh") == []


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize("name", ["gone", "./gone"])
def test_a_script_that_names_the_file_only_in_the_job(name: str) -> None:
    assert len(_refused(f"fio --name=a --rw=read --filename={name}\n", "bench.sh")) == 1


@pytest.mark.usefixtures("_folder")
def test_a_target_that_the_user_describes_is_not_looked_at() -> None:
    where = TargetLookup(read_context(fs="ext4"), LocalHost())
    assert _refused("[a]\nrw=read\nfilename=gone\n", "a.fio", where) == []


def test_the_engine_null_is_refused_anywhere() -> None:
    [message] = _refused("ssh host fio --name=a --rw=read --ioengine=null\n", "bench.sh")
    assert "the engine null" in message


_UNSIZED = "--rw=randread --bs=4k --direct=1 --runtime=60 --time_based"


def _severities(text: str, name: str) -> list[str]:
    return [each.severity for each in lint(source(text, name)) if each.rule == "refused-by-fio"]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        (f"fio --name=a {_UNSIZED}\n", "warning"),
        (f"fio --name=a --directory=$DIR {_UNSIZED}\n", "warning"),
        (f"ssh host fio --name=a --directory=/mnt/x {_UNSIZED}\n", "warning"),
        (f"fio --name=a --filename=/mnt/x/testfile {_UNSIZED}\n", "note"),
        (f"[a]\ndirectory=/mnt\n{_UNSIZED.replace(' ', chr(10)).replace('--', '')}\n", "note"),
    ],
)
def test_a_job_without_a_size_on_an_unknown_machine(text: str, severity: str) -> None:
    """A command whose files fio names after the job is refused almost certainly; for others, the file may exist."""
    [found] = _severities(text, "a.fio" if text.startswith("[") else "a.sh")
    assert found == severity


def test_many_jobs_without_a_size_are_one_note() -> None:
    sections = "".join(f"[j{number}]\nbs={number}k\n" for number in range(1, 5))
    text = f"[global]\nrw=randread\ndirect=1\ntime_based\n{sections}"
    found = [each for each in lint(source(text, "a.fio")) if each.severity == "note"]
    assert [each.rule for each in found] == ["misread-by-fio", "refused-by-fio"]
    assert found[1].message.endswith("(and 3 more like it)")


def test_a_slash_in_a_name_is_a_directory() -> None:
    """Measured with fio 3.33: --name=x/y writes x/y.0.0."""
    [found] = [each.message for each in lint(source(f"fio --name=x/y {_UNSIZED}\n", "a.sh")) if "size" in each.message]
    assert "the file x/y.0.0 already" in found


@pytest.mark.parametrize(
    "text",
    [
        f"fio --name=a --size=1g {_UNSIZED}\n",
        f"fio --name=a $MORE {_UNSIZED}\n",
        f"fio --name=a --filename=/dev/nvme0n1 {_UNSIZED}\n",
        f"fio --name=a --filename=$DEV {_UNSIZED}\n",
        f"fio --name=/dev/sdb {_UNSIZED}\n",
        f"cd /dev\nfio --name=sdb {_UNSIZED}\n",
        f"fio --name=a --ioengine=rbd --pool=p --rbdname=r {_UNSIZED}\n",
        f"fio --name=a --ioengine=windowsaio {_UNSIZED}\n",
        f"fio --name=a --size=1g --rw=write --end_fsync=1\nfio --name=a {_UNSIZED}\n",
        f"dd if=/dev/urandom of=/mnt/x/testfile bs=1M count=9000\nfio --name=a --filename=/mnt/x/testfile {_UNSIZED}\n",
    ],
)
def test_a_job_that_may_have_a_size_on_an_unknown_machine(text: str) -> None:
    assert _severities(text, "a.sh") == []


@pytest.mark.parametrize(
    ("more", "is_early"),
    [
        ("--filename=f --runtime=300", True),
        ("--filename=f --runtime=1", False),
        ("--filename=g --runtime=300", False),
        ("--filename=f --runtime=300 --size=50%", False),
        ("--filename=f --runtime=300 --time_based", False),
    ],
)
def test_a_job_without_a_size_has_the_size_of_the_file_that_an_earlier_job_wrote(more: str, is_early: bool) -> None:
    text = (
        f"fio --name=a --filename=f --rw=write --bs=1m --size=4G --direct=1\nfio --name=b --rw=read --direct=1 {more}\n"
    )
    found = [each.line for each in lint(source(text, "b.sh")) if each.rule == "runtime-without-time-based"]
    assert found == [2] * is_early
