"""What a campaign's fio jobs may do: no option names a file outside the layout, and unknown options are refused."""

import itertools
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.external_engine import with_engines
from poolproof.campaign.flags import parse_workload_flag
from poolproof.campaign.model import Campaign, JobSpec, Workload
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, FioError, UsageError
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.commandline import read_arguments
from poolproof.load.fio.generator import GENERATOR
from poolproof.load.fio.installed import engine_options
from poolproof.load.fio.job import render
from poolproof.load.fio.jobs import fill_job, jobs_of, placed
from poolproof.load.fio.load import load_of
from poolproof.load.fio.option_names import ALL_NAMES, canonical, names_in
from poolproof.load.fio.permitted import ENGINES, GRAMMARS, PLAIN, REFUSED, refusal
from tests.golden import Message
from tests.unit.load.fio.needs_fio import needs_fio

HOST = LocalHost()
CAPTURED = Path(__file__).parent / "captured"
TYPES = [line.split() for line in (CAPTURED / "option-types.txt").read_text().splitlines()[1:]]
NOT_PERMITTED = names_in("""
rados rbd http net rdma librpma_fio dfs nfs nbd libhdfs libiscsi glusterfs exec libblkio libcufile xnvme windowsaio
skeleton_external
""")
"""Files in fio's engines/ for engines that no campaign may use. Their options therefore need not be listed."""


@needs_fio
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("mem", "mmapshared:/dev/loop0"), ("mem", "mmap:/etc/passwd"), ("mem", "mmaphuge:/x"), ("iomem", "mmap:x"),
        ("mem", "shm"), ("iomem", "shmhuge"),
        ("me", "mmap:/etc/passwd"), ("write_iolog", "/x"), ("write_iolo", "../x"), ("write_iolog", "owner.json"),
        ("write_iolog", "a.img"), ("write_iolog", "fio.pid"), ("write_iolog", ".iolog"),
        ("write_iolog", "a.json.iolog"),
        ("write_lat_log", "/x"),
        ("write_bw_log", "a/b"), ("write_hist_log", ".."), ("read_iolog", "x"), ("replay_redirect", "/dev/sda"),
        ("merge_blktrace_file", "x"), ("exec_prerun", "id"), ("exec_postrun", "id"), ("opendir", "/srv"),
        ("filename", "/etc/passwd"), ("filename", "a:../b"), ("filename", "${HOME}"), ("filename", "-"),
        ("filename", "a:-"), ("filename_format", "/x/$jobnum"), ("directory", "/srv"), ("cgroup", "x"),
        ("ioscheduler", "none"), ("profile", "act"), ("buffer_pattern", "'/etc/shadow'"),
        ("verify_pattern", "0x12'/etc/shadow'"), ("allow_mounted_write", "1"), ("uid", "1000"), ("name", "/dev/sda"),
        ("ioengine", "external:/tmp/evil.so"), ("ioengine", "/tmp/evil.so"), ("ioengine", "evil.so"),
        ("ioengine", "exec"), ("ioengine", "net"), ("ioengine", "rbd"), ("ioengine", "http"), ("iodepth", "${DEPTH}"),
        ("size", "1m*$ncpus"),
        ("size", "1m*$ncpusx"), ("verify_async", "30000"), ("verify_async", "1k"),
        ("filename_format", "..$clientuid/x"), ("filename_format", "a/..$CLIENTUID/..$clientuid/x"),
        ("filename_format", "..$client$clientuiduid/x"), ("filename_form", ".$clientuid./x"), ("filename_format", "$x"),
        ("name", ".."), ("name", "."), ("name", "..$clientuid"), ("name", "$clientuid."), ("name", " .. "),
        ("description", "${AWS_SECRET_ACCESS_KEY}"),
        ("description", "of $pagesize bytes"),
    ],
)  # fmt: skip
def test_no_option_leaves_the_layout(option: str, value: str) -> None:
    workload = Workload("w", "w", (JobSpec("w", (("rw", "read"), ("bs", "4k"), (option, value))),), "iops")
    with pytest.raises(CampaignError) as caught:
        jobs_of(workload, 1.0, HOST)
    assert caught.value.hint


_PIECES = ("..", ".", "$clientuid", "$CLIENTUID", "$jobname", "$jobnum")


@needs_fio
@pytest.mark.parametrize("name", [".", "..", "$clientuid", "a b"])
def test_a_file_name_that_is_permitted_stays_in_the_directory(tmp_path: Path, name: str) -> None:
    """fio replaces keywords in `filename_format`, so the result is checked with fio itself."""
    inside = tmp_path / "inside"
    inside.mkdir()
    permitted = 0
    for first, second in itertools.product(_PIECES, repeat=2):
        options = {"rw": "write", "size": "4k", "bs": "4k", "name": name, "filename_format": f"{first}{second}/x"}
        try:
            jobs = jobs_of(Workload("w", "w", (JobSpec("w", tuple(options.items())),), "iops"), 1.0, HOST)
        except CampaignError:
            continue
        permitted += 1
        job_file = tmp_path / "job.fio"
        job_file.write_text(render(placed(fill_job(jobs), str(inside))))
        subprocess.run(["fio", "--output", str(tmp_path / "out"), job_file], timeout=60, cwd=tmp_path, check=False)
        assert {path.name for path in tmp_path.iterdir()} <= {"inside", "job.fio", "out"}, options
    assert permitted or name != "a b"


@needs_fio
@pytest.mark.parametrize(
    "options",
    [
        "mem=mmaphuge", "iomem=malloc", "write_lat_log=lat", "write_iolog=t-1.iolog", "write_iolog=x",
        "bssplit=4k/50:64k/50", "filename=a/b",
        "random_distribution=zoned:60/10:40/90", "verify=crc32c,verify_pattern=0xdead", "ignore_error=EIO",
        "steadystate=iops_slope:0.3%", "cpus_allowed=0-1", "filename_format=$jobname.$jobnum", "ioengine=io_uring",
        "rw=randread:8", "offset_increment=10%", 'buffer_pattern="abc"', "percentile_list=99:99.9",
    ],
)  # fmt: skip
def test_what_an_honest_campaign_sets_is_permitted(options: str) -> None:
    (workload, *_) = parse_workload_flag(f"rw=randread,bs=4k,{options}" if "rw=" not in options else options)
    assert jobs_of(workload, 1.0, HOST)


def test_memory_that_outlives_fio_is_refused_with_a_kind_that_does_not() -> None:
    """A System V segment of a fio that was killed uses RAM until someone removes it with ipcrm."""
    assert refusal("mem", "shm") == (
        "`mem=shm`: if fio is killed, its shared memory segment stays in RAM",
        "use mem=mmap",
    )


_ENGINE = "/usr/local/lib/fio/own-1.so"
_WITH_ENGINE = "layouts: {{a: dir /srv}}\nworkloads: {{w: {{rw: read, bs: 4k, size: 1m, ioengine: '{engine}'}}}}"


def _campaign(engine: str) -> Campaign:
    return parse_campaign(_WITH_ENGINE.format(engine=engine), "c.yaml")


@needs_fio
def test_an_engine_in_a_file_needs_the_flag_with_its_path(message: Message) -> None:
    campaign = _campaign(f"external:{_ENGINE}")
    with pytest.raises(CampaignError, match=_ENGINE) as caught:
        jobs_of(campaign.workloads[0], 1.0, HOST)
    message(caught.value)
    assert caught.value.hint.endswith(f"--external-engine {_ENGINE}")
    allowed = with_engines(campaign, [_ENGINE])
    (job,) = jobs_of(allowed.workloads[0], 1.0, HOST)
    assert job.options["ioengine"] == f"external:{_ENGINE}"
    assert _ENGINE not in format_campaign(with_engines(_campaign("libaio"), ()))
    again = parse_campaign(format_campaign(allowed), "run.json", recorded=True)
    with pytest.raises(CampaignError, match=_ENGINE):  # the flag is not saved with the campaign
        jobs_of(again.workloads[0], 1.0, HOST)


@needs_fio
@pytest.mark.parametrize(
    "engine",
    [
        _ENGINE, f"external:{_ENGINE}x", f"external:/tmp/..{_ENGINE}", f"external: {_ENGINE}", f"external:/{_ENGINE}",
        f"external:{_ENGINE},libaio", "external", "external:", "external:own-1.so", "own-1.so", f"EXTERNAL:{_ENGINE}",
    ],
)  # fmt: skip
def test_the_flag_allows_no_other_file(engine: str) -> None:
    (workload,) = _campaign(engine).workloads
    with pytest.raises(CampaignError) as caught:
        jobs_of(replace(workload, engines=frozenset({_ENGINE})), 1.0, HOST)
    assert caught.value.hint


@pytest.mark.parametrize(
    "path", ["own.so", "", "/", "/a/../own.so", "/a//own.so", "/a own.so", "/a:b.so", "/$HOME/a.so", "/a.so\n", "-x"]
)
def test_the_flag_takes_only_a_plain_absolute_path(path: str) -> None:
    with pytest.raises(UsageError, match="absolute path"):
        with_engines(_campaign(f"external:{path.strip()}x"), [path])


def test_the_flag_must_be_needed() -> None:
    with pytest.raises(UsageError, match="no workload has"):
        with_engines(_campaign("libaio"), [_ENGINE])


def test_every_option_of_every_known_release_is_in_one_list() -> None:
    names = {canonical(name) for name, where, *_ in TYPES if where not in NOT_PERMITTED}
    unsorted = {name for name in names if (name in PLAIN) + (name in GRAMMARS) + (name in REFUSED) != 1}
    unused = {"gpu_dev_id"}  # of libhipfile, which is not permitted
    assert unsorted <= unused
    listed = {line.partition(":")[0].strip() for line in (CAPTURED / "3.33-cmdhelp.txt").read_text().splitlines()[1:]}
    assert listed - {""} <= PLAIN | set(GRAMMARS) | set(REFUSED)


def test_no_option_of_any_known_release_is_taken_for_a_mistake() -> None:
    refused = {name for name, _, kind, *_ in TYPES if kind == "deprecated"}  # fio stops at these
    assert {canonical(name) for name, *_ in TYPES} - ALL_NAMES <= refused
    for option in ("mem_align=4k", "iomem_align=4k", "verify_async_cpus=1", "bs_is_seq_rand=1", "end_syncfs=1"):
        assert read_arguments(["--name=a", f"--{option}"]).problems == ()


@given(option=st.sampled_from(sorted(PLAIN | {"mem", "ioengine", *REFUSED})), path=st.text(max_size=12))
def test_no_listed_option_takes_a_path(option: str, path: str) -> None:
    for value in (f"/{path}", f"mmap:/{path}", f"'{path}'", f"x/{path}"):
        assert refusal(option, value) is not None


def test_an_option_of_a_future_fio_is_refused() -> None:
    refused = refusal("trace_file", "1")
    assert refused is not None and "does not know" in refused[0]


def test_fio_has_no_permitted_engine_that_loads_a_file() -> None:
    assert not ENGINES & {"external", "exec", "net", "nbd", "rbd", "http", "libblkio"}


@needs_fio
def test_fio_is_never_asked_about_an_engine_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(FioError, match="not the name"):
        engine_options(HOST, str(tmp_path / "evil.so"))


@needs_fio
def test_a_log_without_a_directory_is_written_to_the_scratch_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, scratch = tmp_path / "caller", tmp_path / "scratch"
    caller.mkdir()
    scratch.mkdir()
    precious = caller / "x_lat.1.log"
    precious.write_text("mine")
    monkeypatch.chdir(caller)
    (workload,) = parse_workload_flag("rw=read,bs=4k,size=64k,time_based=0,ioengine=psync,write_lat_log=x")
    load = GENERATOR.in_directory(load_of(jobs_of(workload, 1.0, HOST)), str(tmp_path))
    _, done = GENERATOR.run(HOST, load, str(scratch), status_s=None, before=lambda: None)
    assert done.returncode == 0, done.stderr
    assert precious.read_text() == "mine" and [path.name for path in caller.iterdir()] == ["x_lat.1.log"]
    assert (scratch / "x_lat.1.log").exists()
