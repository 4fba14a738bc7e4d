"""The installed fio: its version, and which options and values it accepts."""

import pytest

from poolproof.campaign.model import JobSpec
from poolproof.errors import CampaignError, FioError
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.installed import FioVersion, check_options, fio_version, known_options, parse_version
from poolproof.load.fio.job import Job, render
from poolproof.load.fio.parse_only import check_values
from tests.unit.load.fio.needs_fio import needs_fio

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
def test_versions_are_parsed(text: str, expected: tuple[int, int, int]) -> None:
    version = parse_version(text)
    assert version is not None
    assert (version.major, version.minor, version.patch) == expected


def test_text_without_a_version_is_none() -> None:
    assert parse_version("geojson 1.2") is None
    assert parse_version(f"fio-3.{'9' * 5000}.{'9' * 5000}") is None
    assert FioVersion(3, 9) < FioVersion(3, 10)


def test_the_error_for_a_host_without_fio_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(FioError, match="not installed") as caught:
        fio_version(LocalHost())
    assert "apt-get install fio" in caught.value.hint


@needs_fio
def test_aliases_and_prefixes_become_canonical_names() -> None:
    spec = JobSpec("a", (("readwrite", "randread"), ("blocksize", "4k"), ("time_base", "1"), ("bs", "8k")))
    jobs = check_options([spec], HOST)
    assert dict(jobs[0].options) == {"rw": "randread", "time_based": "1", "bs": "8k"}


@needs_fio
@pytest.mark.parametrize("name", ["bs_is_seq_rand", "softrandommap"])
def test_options_that_fio_has_but_does_not_list_are_accepted(name: str) -> None:
    """`fio --cmdhelp=all` of fio 3.33 does not contain them."""
    assert check_options([JobSpec("a", ((name, "1"),))], HOST)[0].options == {name: "1"}
    with pytest.raises(CampaignError, match="fio has no"):
        check_options([JobSpec("a", ((f"{name}x", "1"),))], HOST)


@needs_fio
def test_engine_options_are_accepted_only_with_that_engine() -> None:
    spec = JobSpec("a", (("ioengine", "io_uring"), ("sqthread_poll", "1")))
    assert check_options([spec], HOST)[0].text("sqthread_poll") == "1"
    with pytest.raises(CampaignError, match="sqthread_poll"):
        check_options([JobSpec("b", (("sqthread_poll", "1"),))], HOST)


@needs_fio
@pytest.mark.parametrize(
    ("wrong", "right"), [("iodepht", "iodepth"), ("randsead", "randseed"), ("blocksise", "blocksize")]
)
def test_a_misspelt_option_gets_the_nearest_name_as_a_hint(wrong: str, right: str) -> None:
    with pytest.raises(CampaignError, match=wrong) as caught:
        check_options([JobSpec("a", ((wrong, "1"),))], HOST)
    assert f"`{right}`" in caught.value.hint


@needs_fio
def test_an_ambiguous_prefix_is_refused() -> None:
    with pytest.raises(CampaignError, match="iodept") as caught:
        check_options([JobSpec("a", (("iodept", "1"),))], HOST)
    assert "iodepth" in caught.value.hint


@needs_fio
def test_an_engine_that_fio_does_not_have_is_refused() -> None:
    with pytest.raises(FioError, match="nosuch"):
        known_options(HOST, "nosuch")
    with pytest.raises(FioError, match=r"`libiao`.*`libaio`"):
        known_options(HOST, "libiao")


@needs_fio
def test_values_that_fio_refuses_are_an_error() -> None:
    check_values((Job("a", {"rw": "randread", "size": "1m"}),), HOST)
    with pytest.raises(CampaignError, match="rw=randred"):
        check_values((Job("a", {"rw": "randred"}),), HOST)
    with pytest.raises(CampaignError, match="iodepth: min value out of range: -4"):
        check_values((Job("a", {"rw": "randread", "iodepth": "-4"}),), HOST)


def test_shared_options_are_in_the_global_section() -> None:
    jobs = (Job("a", {"bs": "4k", "rw": "read"}), Job("b", {"bs": "4k", "rw": "write", "stonewall": ""}))
    assert render(jobs) == "[global]\nbs=4k\n\n[a]\nrw=read\n\n[b]\nrw=write\nstonewall\n"


def test_a_single_job_has_no_global_section() -> None:
    assert render((Job("a", {"bs": "4k", "time_based": ""}),)) == "[a]\nbs=4k\ntime_based\n"


@pytest.mark.parametrize("value", ["/mnt/a#b", "/mnt/a;b", "two\nlines"])
def test_a_value_that_a_job_file_would_cut_is_refused(value: str) -> None:
    with pytest.raises(CampaignError, match="filename"):
        render((Job("a", {"filename": value}),))


@pytest.mark.parametrize("name", ["global", "", "a]b", "a#b"])
def test_a_name_that_is_not_a_valid_section_name_is_refused(name: str) -> None:
    with pytest.raises(CampaignError, match="fio job") as refused:
        render((Job(name, {"rw": "read"}),))
    assert f"'{name}'" in refused.value.message
