"""The order of trials, and the jobs that fio gets. These are pure functions, so no disks are needed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest

from poolproof import process
from poolproof.campaign.flags import campaign_from_flags, parse_workload_flag
from poolproof.campaign.model import JobSpec, Measure, Until, Workload
from poolproof.errors import CampaignError
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.job import Jobs
from poolproof.load.fio.jobs import ADDED, file_set, fill_job, jobs_of, lasting, on_device, placed
from poolproof.load.fio.load import load_of, part_of
from poolproof.load.model import Load
from poolproof.measure.ending import status_interval_s
from poolproof.measure.order import TrialOrder
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.convergence import VariancePriors
from poolproof.results.runs.model import Convergence, Trial
from poolproof.statistics.shared_variance import VariancePrior
from poolproof.stopping.model import NotConverged

HOST = LocalHost()
WORKLOADS = campaign_from_flags(
    ["a | ext4"], ["a=file:1G"], ["w:rw=randread,bs={4k,16k,64k},size=64m", "etcd"]
).workloads
THREE = Measure(trials=3)
ADAPTIVE = Measure(trials=2, most_trials=5, until=Until(tolerance=0.03))


def workload(text: str) -> Workload:
    (one,) = parse_workload_flag(text)
    return one


def jobs(text: str) -> Jobs:
    return jobs_of(workload(text), 3.0, HOST)


def order(seed: int = 5, done: Iterable[Trial] = (), measure: Measure = THREE) -> TrialOrder:
    return TrialOrder("a", WORKLOADS, measure, seed, done)


def whole(order: TrialOrder, figure: float = 100.0) -> list[tuple[str, int]]:
    """Run an order to its end, and return its trials. Each trial has the given result."""
    found = []
    for entry, number in order.ahead():
        order.add(trial(entry.name, number, figure))
        found.append((entry.name, number))
    return found


def trial(name: str, number: int, figure: float | None, *, settled: bool = True) -> Trial:
    settling = Convergence(
        settled, 0.0, 3.0, 180.0, 0.9995, 1.0005, () if settled else (NotConverged("drift", "it drifts"),)
    )
    figures = None if figure is None else TrialMetrics(iops=figure, bandwidth_bytes=figure * 4096)
    return Trial("a", name, number, "failed" if figure is None else "sound", (), "iops", figures, settling=settling)


def test_each_round_runs_every_workload_once_in_an_order_set_by_the_seed() -> None:
    found = whole(order())
    for number in (1, 2, 3):
        round_ = [name for name, _ in found[(number - 1) * 4 : number * 4]]
        assert Counter(round_) == Counter(entry.name for entry in WORKLOADS)
    assert found == whole(order())
    orders = {tuple(name for name, _ in whole(order(seed))) for seed in range(20)}
    assert len(orders) > 10, "other seeds give other orders"


def test_a_resumed_run_continues_in_the_same_order() -> None:
    found = whole(order())
    done = [trial(name, number, 100.0) for name, number in found[:5]]
    resumed = order(done=done)
    assert [(entry.name, number) for entry, number in resumed.certain()] == found[5:]
    assert whole(resumed) == found[5:]


def test_a_cell_gets_trials_until_they_agree() -> None:
    adaptive = order(measure=ADAPTIVE)
    restless = WORKLOADS[1].name
    found = []
    for entry, number in adaptive.ahead():
        adaptive.add(trial(entry.name, number, 100.0 * number if entry.name == restless else 100.0 + 0.01 * number))
        found.append((entry.name, number))
    assert Counter(name for name, _ in found) == {entry.name: 5 if entry.name == restless else 2 for entry in WORKLOADS}
    assert adaptive.certain() == ()


def test_trials_of_a_killed_run_decide_which_are_still_needed() -> None:
    restless, calm, begun, failed = (entry.name for entry in WORKLOADS)
    done = [trial(restless, 1, 100.0), trial(restless, 2, 200.0), trial(calm, 1, 100.0), trial(calm, 2, 100.1)]
    done += [trial(begun, 1, 100.0), trial(failed, 1, None), trial(failed, 2, None)]
    ahead = {(entry.name, number) for entry, number in order(measure=ADAPTIVE, done=done).certain()}
    assert ahead == {(restless, 3), (begun, 2)}, "trials that all failed are not repeated without end"


def test_with_a_budget_each_cell_gets_its_minimum_and_then_what_allow_permits() -> None:
    held = order(measure=ADAPTIVE)
    held.limit()
    first, second = WORKLOADS[0].name, WORKLOADS[1].name
    for entry, number in held.ahead():
        held.add(trial(entry.name, number, 100.0 * number))
    assert held.certain() == ()
    held.allow([first], 3)
    assert [(entry.name, number) for entry, number in held.certain()] == [(first, 3)]
    assert all(held.is_new(entry) for entry, _ in held.certain())
    held.add(trial(first, 3, 100.0))
    assert [len(cell) for cell in held.cells([first, second])] == [3, 2]
    assert held.certain() == ()


class _Jump:
    """The typical variance of the run's cells, which increases when `jump` is called."""

    def __init__(self) -> None:
        self.spreads = VariancePriors(rates=VariancePrior(0.001, 0.25))

    def __call__(self) -> VariancePriors:
        return self.spreads

    def jump(self) -> None:
        self.spreads = VariancePriors(rates=VariancePrior(0.08, 0.25))


def test_a_workload_that_had_converged_at_preparation_does_not_run() -> None:
    """The goal has two workloads.

    While one of them gets its trial, the typical variance increases, so that the other's result is not precise enough
    any more.
    """
    jump, (known, restless) = _Jump(), (WORKLOADS[0], WORKLOADS[1])
    done = [trial(known.name, number, 100.0) for number in (1, 2)]
    done += [trial(restless.name, number, 100.0 * number) for number in (1, 2)]
    held = TrialOrder("a", [known, restless], ADAPTIVE, 5, done, jump)
    held.limit()
    held.allow([known.name, restless.name], 3)
    prepared = {entry.name for entry, _ in held.certain()}
    assert prepared == {restless.name}
    ran = []
    for entry, number in held.ahead(prepared):
        held.add(trial(entry.name, number, 100.0))
        ran.append((entry.name, number))
        jump.jump()
    assert ran == [(restless.name, 3)]
    assert (known.name, 3) in {(entry.name, number) for entry, number in held.certain()}, "its turn comes with the next"


def test_a_workload_that_skipped_rounds_catches_up_without_gaps_in_its_numbers() -> None:
    jump, (paused, restless) = _Jump(), (WORKLOADS[0], WORKLOADS[1])
    both = TrialOrder("a", [paused, restless], ADAPTIVE, 5, (), jump)
    ran = []
    for entry, number in both.ahead():
        both.add(trial(entry.name, number, 100.0 if entry is paused else 100.0 * number))
        ran.append((entry.name, number))
        if (restless.name, 4) in ran:
            jump.jump()
    assert ran.index((paused.name, 3)) > ran.index((restless.name, 4)), "it was known until then"
    for each in (paused, restless):
        numbers = [number for name, number in ran if name == each.name]
        assert numbers == list(range(1, len(numbers) + 1))
    assert both.certain() == ()


def test_a_missing_trial_number_is_used_next() -> None:
    name = WORKLOADS[0].name
    done = [trial(name, number, 100.0 * number) for number in (1, 2, 4)]
    one = TrialOrder("a", WORKLOADS[:1], ADAPTIVE, 5, done)
    assert [number for _, number in one.certain()] == [3]
    assert [number for _, number in whole(one)] == [3, 5]


def test_a_fixed_number_of_trials_runs_whatever_the_results() -> None:
    exactly = order(measure=Measure(trials=3, until=Until()))
    assert len(exactly.certain()) == 3 * len(WORKLOADS)
    assert len(whole(exactly)) == 3 * len(WORKLOADS)


def test_the_users_options_override_those_that_poolproof_adds() -> None:
    (added,) = jobs("rw=randread,bs=16k")
    assert {name: added.options[name] for name in ADDED} == {name: value for name, (value, _) in ADDED.items()}
    assert added.options["runtime"] == "3s"
    (own,) = jobs("rw=write,bs=16k,direct=0,ioengine=psync,size=8m,randrepeat=1,refill_buffers=0,time_based=0")
    assert [own.options[name] for name in ADDED] == ["psync", "0", "8m", "0", "1", "0"]
    assert "runtime" not in own.options, "a job that is not time-based ends when its work is done"


def test_each_section_has_its_own_report() -> None:
    """A merged report has only the first section's name, so all of its I/Os were judged as if that section did them."""
    common = (("rw", "randwrite"), ("bs", "16k"), ("group_reporting", "1"))
    sections = (JobSpec("a", (*common, ("direct", "1"))), JobSpec("b", (*common, ("direct", "0"), ("fsync", "8"))))
    several = jobs_of(Workload("w", "w", sections, "p99"), 1.0, HOST)
    assert [job.options.get("group_reporting") for job in several] == [None, None]
    (single,) = jobs("rw=randread,bs=16k,numjobs=4,group_reporting=1")
    assert single.options["group_reporting"] == "1", "clones of one section are alike"


@pytest.mark.parametrize(("asked_s", "said"), [(3.0, "3s"), (2.5, "2500ms"), (0.2, "200ms"), (8.7031, "8703ms")])
def test_fractions_of_a_second_are_passed_to_fio_in_milliseconds(asked_s: float, said: str) -> None:
    (job,) = jobs_of(workload("rw=randread,bs=16k"), asked_s, HOST)
    assert job.options["runtime"] == said
    assert lasting((job,), asked_s)[0].options["runtime"] == said
    assert part_of(job).runtime_s == pytest.approx(asked_s, abs=0.001)


def test_reports_of_a_short_trial_are_frequent_enough_for_its_samples() -> None:
    one, many = jobs("rw=randread,bs=16k"), jobs("rw=randread,bs=16k,numjobs=8")
    assert [status_interval_s(load_of(one), shortest_s) for shortest_s in (3.0, 1.2, 0.5)] == pytest.approx(
        [0.25, 0.1, 0.1]
    )
    assert status_interval_s(load_of(many), 1.2) == 0.5


def test_the_files_are_where_poolproof_puts_them() -> None:
    (job,) = placed(jobs("rw=read,bs=1m"), "/mnt/x")
    assert job.options["directory"] == "/mnt/x"
    for outside in ("directory=/srv", "filename=/etc/passwd", "filename=../up", "filename=a:/dev/sda"):
        with pytest.raises(CampaignError, match=r"outside the layout|sets `directory`"):
            jobs(f"rw=read,bs=1m,{outside}")


def test_the_fill_job_lays_out_the_same_files_and_nothing_else() -> None:
    (fill,) = fill_job(placed(jobs("rw=randwrite,bs=4k,numjobs=4,size=32m,offset_increment=1m,iodepth=8"), "/m"))
    assert fill.options == {
        "directory": "/m",
        "size": "32m",
        "numjobs": "4",
        "offset_increment": "1m",
        "rw": "read",
        "bs": "1m",
        "create_only": "1",
        "fallocate": "none",
        "ioengine": "psync",
    }


@pytest.mark.parametrize(
    ("options", "block"),
    [
        ("size=64k", "65536"),
        ("size=100m,nrfiles=100", "1m"),
        ("size=1m,nrfiles=100", "10485"),
        ("size=1m,filename=a\\:b", "1m"),
        ("size=1m,filename=a:b", "524288"),
        ("size=8m,filesize=4k-8k,nrfiles=4", "4096"),
    ],
)
def test_files_smaller_than_the_block_that_fills_them(options: str, block: str) -> None:
    (fill,) = fill_job(placed(jobs(f"rw=read,bs=4k,{options}"), "/m"))
    assert fill.options["bs"] == block


def test_workloads_share_files_unless_size_or_data_or_copy_on_write_separates_them() -> None:
    def name(text: str, *, apart: bool = False) -> str:
        return file_set(workload(text), jobs(text), writers_apart=apart)

    assert name("rw=read,bs=1m,size=64m") == name("rw=randwrite,bs=4k,size=64m,numjobs=8")
    assert name("rw=read,bs=1m,size=64m") != name("rw=read,bs=1m,size=128m")
    assert name("rw=read,bs=1m,size=64m") != name("rw=write,bs=1m,size=64m,refill_buffers=0"), "its data compress"
    assert name("rw=read,bs=1m,size=64m") != name("rw=randrw,bs=4k,size=64m,ioengine=mmap"), "it discards what it maps"
    assert "/" not in name("rw=read,bs=1m,filename=a/b")
    assert name("rw=randwrite,bs=4k,size=64m,unlink_each_loop=1") != name("rw=randwrite,bs=4k,size=64m"), "has holes"
    assert name("rw=write,bs=4k,size=64m,ioengine=ftruncate") != name("rw=write,bs=4k,size=64m"), "it cuts its file"
    read, write, mixed = (name(f"rw={rw},bs=1m,size=64m", apart=True) for rw in ("randread", "write", "randrw"))
    assert read == name("rw=randread,bs=1m,size=64m") != write == mixed, "on a copy-on-write layout"


def test_a_workload_that_makes_new_files_shares_none_and_is_not_filled() -> None:
    text = "rw=write,bs=2300,size=64m,unlink=1"
    assert load_of(jobs(text)).makes_new_files
    assert file_set(workload(text), jobs(text), writers_apart=False) != file_set(
        workload("rw=write,bs=2300,size=64m"), jobs("rw=write,bs=2300,size=64m"), writers_apart=False
    )
    for other in ("rw=randrw,bs=4k,unlink=1", "rw=write,bs=4k,unlink=1,overwrite=1", "rw=write,bs=4k"):
        assert not load_of(jobs(other)).makes_new_files
    assert "unlink" not in on_device(jobs(text), "/dev/loop7")[0].options
    assert not load_of(on_device(jobs(text), "/dev/loop7")).makes_new_files


@pytest.mark.parametrize(
    ("options", "is_kept"),
    [
        ("rw=randwrite", True),
        ("rw=randwrite,overwrite=1", False),
        ("rw=randrw", False),
        ("rw=randread", False),
    ],
)
def test_files_that_the_next_trial_needs_are_not_removed(options: str, is_kept: bool) -> None:
    """fio writes a missing file before it starts, and the disks' counters include that.

    Measured with overwrite=1: the writes stayed in RAM until fio removed the file, and those of the layout proved them.
    """
    asked = jobs(f"{options},bs=4k,unlink=1")
    (job,) = placed(asked, "/m")
    assert ("unlink" in job.options) is is_kept
    assert len(fill_job(placed(asked, "/m"))) == (0 if is_kept else 1)


@pytest.mark.parametrize(("name", "kept"), [("x", [False, False]), ("y", [True, False])])
def test_a_file_that_another_job_uses_is_not_removed(name: str, kept: list[bool]) -> None:
    writer = {"rw": "write", "filename": "x", "unlink": "1"}
    found = placed(_sections(writer, {"filename": name}), "/m")
    assert ["unlink" in job.options for job in found] == kept
    assert [job.name for job in fill_job(found)] == [
        job.name for job, is_new in zip(found, kept, strict=True) if not is_new
    ]


def test_on_a_block_device_all_clones_share_the_device() -> None:
    (job,) = on_device(jobs("rw=read,bs=1m,numjobs=8,nrfiles=4,size=64m"), "/dev/loop7")
    assert job.options["filename"] == "/dev/loop7"
    assert "nrfiles" not in job.options and "directory" not in job.options
    assert load_of((job,)).shares_one_file


def test_a_random_start_of_several_jobs_is_rejected() -> None:
    """fio does not report the delays that it chose: three clones that ran apart had three times their rate."""
    with pytest.raises(CampaignError, match="`startdelay` is a range"):
        jobs("rw=randread,bs=4k,numjobs=3,startdelay=0-3s")
    assert len(jobs("rw=randread,bs=4k,startdelay=0-3s")) == 1, "a single job has one rate, whenever it starts"
    assert len(jobs("rw=randread,bs=4k,numjobs=3,startdelay=1s")) == 1


@pytest.mark.parametrize(
    "again", ["time_based=1", "time_based=0,norandommap=1", "time_based=0,random_distribution=zipf:1.1"]
)
def test_random_io_that_never_leaves_the_first_file_is_rejected(again: str) -> None:
    """Reads of 64 KiB were judged as reads of 100 MiB: 271 MiB/s of a hard disk with 200 MB/s were `sound`."""
    many = "bs=64k,nrfiles=1600,filesize=64k,size=100m,file_service_type=sequential"
    with pytest.raises(CampaignError, match="it would never leave its first file"):
        jobs(f"rw=randread,{many},{again}")
    assert len(jobs(f"rw=randread,{many},time_based=0")) == 1, "fio goes through all files, one after the other"
    assert len(jobs(f"rw=read,{many},{again}")) == 1
    assert len(jobs(f"rw=randread,{many},{again}".replace("sequential", "roundrobin"))) == 1
    assert len(jobs(f"rw=randread,bs=64k,size=100m,file_service_type=sequential,{again}")) == 1


def test_a_job_that_fio_does_not_report_is_rejected() -> None:
    """Its requests were counted for the other jobs: reads from RAM in 11 µs were `sound`."""
    with pytest.raises(CampaignError, match="`stats=0` leaves a job out"):
        jobs("rw=randread,bs=4k,stats=0")
    assert len(jobs("rw=randread,bs=4k,stats=1")) == 1


@pytest.mark.parametrize("second", [{"flow": "1", "stonewall": "1"}, {"flow": "1", "wait_for": "one"}])
def test_jobs_that_wait_for_a_job_that_waits_for_them_are_rejected(second: dict[str, str]) -> None:
    """Measured: the first of two such jobs did two I/Os, and then waited until its runtime was over."""
    with pytest.raises(CampaignError, match="`flow` makes job one wait"):
        _sections({"flow": "1"}, second)


@pytest.mark.parametrize(
    "each", [({"flow": "1"}, {"flow": "1"}), ({"flow": "1"}, {"flow": "1", "flow_id": "2", "stonewall": "1"})]
)
def test_jobs_that_keep_a_ratio_while_they_run_at_the_same_time_are_accepted(each: tuple[dict[str, str], ...]) -> None:
    assert len(_sections(*each)) == 2


def _sections(*each: dict[str, str]) -> Jobs:
    specs = (
        JobSpec(name, (("rw", "randread"), *more.items())) for name, more in zip(("one", "two"), each, strict=True)
    )
    return jobs_of(replace(WORKLOADS[0], jobs=tuple(specs)), 3.0, HOST)


class _HostWithFio(LocalHost):
    """This machine, but with another release of fio and of the kernel."""

    def __init__(self, release: str, kernel: str = "6.12.48+deb13-amd64") -> None:
        self._releases: dict[tuple[str, ...], str] = {("fio", "--version"): release, ("uname", "-r"): kernel}

    def run(
        self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
    ) -> process.Completed:
        done = super().run(argv, timeout_s=timeout_s, stdin=stdin, check=check)
        release = self._releases.get(tuple(argv))
        return done if release is None else replace(done, stdout=f"{release}\n")


def test_fio_that_may_sleep_for_ever_after_spinning_is_rejected() -> None:
    """Measured with fio 3.33: a job with runtime=1 had not ended after 25 s."""
    spins, sleeps = (workload(f"rw=randread,thinktime=1000,thinktime_spin={spin}") for spin in (500, 0))
    with pytest.raises(CampaignError, match=r"fio-3\.35 on .* may never end with `thinktime_spin`"):
        jobs_of(spins, 3.0, _HostWithFio("fio-3.35"))
    assert len(jobs_of(sleeps, 3.0, _HostWithFio("fio-3.35"))) == 1
    assert len(jobs_of(spins, 3.0, _HostWithFio("fio-3.36"))) == 1


@pytest.mark.parametrize(
    ("options", "release", "kernel"),
    [
        ("write_hint=short,direct=0", "fio-3.36", "6.12.48"),
        ("direct=1", "fio-3.36", "6.12.48"),
        ("write_hint=short", "fio-3.37", "6.12.48"),
        ("write_hint=short", "fio-3.28", "5.15.0-91-generic"),
    ],
)
def test_write_hint_is_rejected_if_fio_cannot_set_it(options: str, release: str, kernel: str) -> None:
    """fio 3.33 on Linux 6.18 fails when it opens the file, for reads and with `none` too."""
    with pytest.raises(CampaignError, match=r"fio-3\.36 on .* cannot set `write_hint` with direct=1: .* Linux 6\.12"):
        jobs_of(workload("rw=randread,write_hint=none"), 3.0, _HostWithFio("fio-3.36"))
    assert len(jobs_of(workload(f"rw=randwrite,{options}"), 3.0, _HostWithFio(release, kernel))) == 1


def test_workloads_on_a_block_device_need_space_up_to_the_highest_end() -> None:
    together = on_device(jobs("rw=read,bs=1m,numjobs=4,size=300m"), "/dev/zd0")
    apart = on_device(jobs("rw=write,bs=1m,numjobs=4,size=200m,offset_increment=200m"), "/dev/zd0")
    assert load_of(together).end_bytes == 300 * 1024**2
    assert load_of(apart).end_bytes == 800 * 1024**2
    assert Load(()).end_bytes == 0


def test_an_unknown_fio_option_is_rejected_with_the_nearest_name() -> None:
    with pytest.raises(CampaignError, match="no 'iodepht' option") as caught:
        jobs("rw=read,bs=1m,iodepht=4")
    assert "iodepth" in caught.value.hint


def test_a_job_keeps_its_name_only_among_several() -> None:
    assert [job.name for job in jobs("rw=read,bs=1m")] == ["job"]
    postgres = jobs_of(workload("postgres"), Measure().longest_s, HOST)
    assert len({job.name for job in postgres}) == len(postgres) == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("filename_format=../x", "outside the layout"),
        ("read_iolog=log", "replays a log"),
        ("opendir=/srv", "adds files"),
        ("exec_prerun=reboot", "starts a program"),
        ("size=50%", "`size` is a percentage"),
        ("offset=50%", "`offset` is a percentage"),
        ("size=0", "`size=.*file size"),
        ("size=-5m", "`size=.*file size"),
        ("size=64k", "64 KiB.*1 MiB"),
        ("size=1e30", "as 1 B"),
    ],
)
def test_a_workload_cannot_use_files_outside_its_layout(options: str, said: str) -> None:
    with pytest.raises(CampaignError, match=said):
        jobs(f"rw=read,bs=1m,{options}")


def test_workloads_with_compressible_data_do_not_share_files() -> None:
    plain = file_set(workload("rw=write,bs=1m"), jobs("rw=write,bs=1m"), writers_apart=False)
    for options in ("zero_buffers=1", "buffer_compress_percentage=50", "refill_buffers=0"):
        text = f"rw=write,bs=1m,{options}"
        assert file_set(workload(text), jobs(text), writers_apart=False) != plain, options
