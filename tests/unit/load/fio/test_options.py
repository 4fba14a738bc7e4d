"""Options are checked against the fio that is installed."""

import shutil

import pytest

from poolproof.campaign.model import JobSpec
from poolproof.errors import CampaignError, FioError
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.installed import (
    FioVersion,
    check_options,
    fio_version,
    known_options,
    parse_version,
)
from poolproof.load.fio.job import Job, JobFile, render
from poolproof.load.fio.parse_only import check_values

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed: `apt-get install fio`")
HOST = LocalHost()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fio-3.33\n", (3, 33, 0)),
        ("fio-2.2.8", (2, 2, 8)),
        ("fio 3.16-64-gfd988", (3, 16, 0)),
        ("fio-3.19-dirty", (3, 19, 0)),
    ],
)
def test_versions(text: str, expected: tuple[int, int, int]) -> None:
    version = parse_version(text)
    assert version is not None
    assert (version.major, version.minor, version.patch) == expected


def test_what_is_no_version() -> None:
    assert parse_version("geojson 1.2") is None
    assert FioVersion(3, 9) < FioVersion(3, 10)


def test_a_host_without_fio_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(FioError, match="not installed") as caught:
        fio_version(LocalHost())
    assert "apt-get install fio" in caught.value.hint


@needs_fio
def test_aliases_and_prefixes_become_first_names() -> None:
    spec = JobSpec("a", (("readwrite", "randread"), ("blocksize", "4k"), ("time_base", "1"), ("bs", "8k")))
    jobs = check_options([spec], HOST)
    assert dict(jobs.jobs[0].options) == {"rw": "randread", "time_based": "1", "bs": "8k"}


@needs_fio
def test_options_of_an_engine_are_known_to_its_jobs_only() -> None:
    spec = JobSpec("a", (("ioengine", "io_uring"), ("sqthread_poll", "1")))
    assert check_options([spec], HOST).jobs[0].text("sqthread_poll") == "1"
    with pytest.raises(CampaignError, match="sqthread_poll"):
        check_options([JobSpec("b", (("sqthread_poll", "1"),))], HOST)


@needs_fio
@pytest.mark.parametrize(
    ("wrong", "right"), [("iodepht", "iodepth"), ("randsead", "randseed"), ("blocksise", "blocksize")]
)
def test_a_mistaken_option_brings_the_nearest_right_word(wrong: str, right: str) -> None:
    with pytest.raises(CampaignError, match=wrong) as caught:
        check_options([JobSpec("a", ((wrong, "1"),))], HOST)
    assert f"`{right}`" in caught.value.hint


@needs_fio
def test_a_prefix_of_several_is_refused() -> None:
    with pytest.raises(CampaignError, match="iodept") as caught:
        check_options([JobSpec("a", (("iodept", "1"),))], HOST)
    assert "iodepth" in caught.value.hint


@needs_fio
def test_an_engine_that_fio_lacks() -> None:
    with pytest.raises(FioError, match="nosuch"):
        known_options(HOST, "nosuch")
    with pytest.raises(FioError, match="`libiao`; did you mean `libaio`"):
        known_options(HOST, "libiao")


@needs_fio
def test_values_are_checked_by_fio_itself() -> None:
    check_values(JobFile((Job("a", {"rw": "randread", "size": "1m"}),)), HOST)
    with pytest.raises(CampaignError, match="rw=randred"):
        check_values(JobFile((Job("a", {"rw": "randred"}),)), HOST)
    with pytest.raises(CampaignError, match="iodepth: min value out of range: -4"):
        check_values(JobFile((Job("a", {"rw": "randread", "iodepth": "-4"}),)), HOST)


def test_a_job_file_has_what_is_shared_first() -> None:
    jobs = JobFile((Job("a", {"bs": "4k", "rw": "read"}), Job("b", {"bs": "4k", "rw": "write", "stonewall": ""})))
    assert render(jobs) == "[global]\nbs=4k\n\n[a]\nrw=read\n\n[b]\nrw=write\nstonewall\n"


def test_one_job_is_one_section() -> None:
    assert render(JobFile((Job("a", {"bs": "4k", "time_based": ""}),))) == "[a]\nbs=4k\ntime_based\n"


@pytest.mark.parametrize("value", ["/mnt/a#b", "/mnt/a;b", "two\nlines"])
def test_what_a_job_file_would_cut_is_refused(value: str) -> None:
    with pytest.raises(CampaignError, match="filename"):
        render(JobFile((Job("a", {"filename": value}),)))


@pytest.mark.parametrize("name", ["global", "", "a]b", "a#b"])
def test_a_name_that_no_section_can_have_is_refused(name: str) -> None:
    with pytest.raises(CampaignError, match="name of a fio job"):
        render(JobFile((Job(name, {"rw": "read"}),)))
