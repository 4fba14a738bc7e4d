"""How findings lead to a verdict, as described in docs/verdicts.md."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolproof.evidence.model import Evidence, LeafUse
from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.load.fio.job import Job
from poolproof.load.fio.load import load_of
from poolproof.load.model import Load
from poolproof.load.outcome import Latency, Outcome, PartOutcome
from poolproof.rules.judge import judge, lint
from poolproof.rules.model import Case
from poolproof.rules.proof import measured_metrics, proves_metric
from tests.unit.rules.examples import EXAMPLES
from tests.unit.rules.examples.building import failed_with
from tests.unit.rules.making import EXT4, GIB, account, counted, direction, jobs, leaf, said

_STRENGTH = {
    effect: number for number, effect in enumerate(("fails", "refutes", "suspects", "leaves-unproven", "notes"))
}
_VERDICTS = {"fails": "failed", "refutes": "refuted", "suspects": "suspect", "leaves-unproven": "unproven"}
_CASES = [each for examples in EXAMPLES.values() for example in examples for each in (example.case, example.near_miss)]

_OPTIONS: dict[str, st.SearchStrategy[str]] = {
    "rw": st.sampled_from(["read", "write", "randread", "randwrite", "rw", "randrw", "trim", "randtrimwrite", "x"]),
    "bs": st.sampled_from(["4k", "2300", "1m", "4KiB", "4k-64k", "0", "many"]),
    "size": st.sampled_from(["22m", "64g", "20%", "0", "-1"]),
    "io_size": st.sampled_from(["1m", "1t"]),
    "runtime": st.sampled_from(["10", "30s", "0", "never"]),
    "time_based": st.sampled_from(["", "0", "1"]),
    "ramp_time": st.sampled_from(["2", "0"]),
    "numjobs": st.sampled_from(["1", "8", "0"]),
    "iodepth": st.sampled_from(["1", "32", "0"]),
    "ioengine": st.sampled_from(["libaio", "psync", "io_uring", "null", "external:x"]),
    "direct": st.sampled_from(["0", "1"]),
    "filename": st.sampled_from(["X", "a:b", "/dev/sdb"]),
    "fdatasync": st.sampled_from(["1", "0", "1000"]),
    "end_fsync": st.sampled_from(["0", "1"]),
    "refill_buffers": st.sampled_from(["0", "1"]),
    "buffer_compress_percentage": st.sampled_from(["0", "50", "100"]),
    "group_reporting": st.sampled_from(["0", "1"]),
    "rate_iops": st.sampled_from(["100", "100,200", "x"]),
    "invalidate": st.sampled_from(["0", "1"]),
}
_BYTES = st.integers(0, 64 * GIB)
_RATES = st.one_of(st.none(), st.floats(0, 1e12))


def _jobs() -> st.SearchStrategy[Load]:
    job = st.builds(Job, st.sampled_from(["a", "/dev/sdb"]), st.fixed_dictionaries({}, optional=_OPTIONS))
    return st.lists(job, max_size=3).map(lambda jobs: load_of(tuple(jobs)))


def _leaves() -> st.SearchStrategy[tuple[LeafUse, ...]]:
    each = st.builds(
        leaf,
        st.sampled_from(["a", "b"]),
        read_bytes=_BYTES,
        drained_write_bytes=_BYTES,
        read_ios=st.integers(0, 10**6),
        utilisation=st.floats(0, 1),
        latency_s=st.one_of(st.none(), st.floats(0, 10)),
        below_device=st.sampled_from([None, "vda"]),
        below_read_bytes=st.one_of(st.none(), _BYTES),
    )
    return st.lists(each, max_size=3).map(tuple)


def _evidence() -> st.SearchStrategy[Evidence | None]:
    accounts = st.builds(
        account,
        st.tuples(_BYTES, _BYTES),
        st.tuples(_BYTES, _BYTES, _BYTES),
        st.sampled_from([1.0, 1.5, 2.0]),
        idle_s=st.sampled_from([0.0, 0.2, 3.0]),
        idle_read_bytes_per_s=st.floats(0, 1e9),
        idle_write_bytes_per_s=st.floats(0, 1e9),
    )
    return st.one_of(st.none(), st.builds(Evidence, st.one_of(st.none(), accounts), _leaves()))


def _targets() -> st.SearchStrategy[Target | None]:
    known = st.builds(
        Target,
        st.sampled_from(["ext4", "zfs", "btrfs", "fuse.mergerfs", "tmpfs", "nfs4", "unknown"]),
        ram_bytes=st.one_of(st.none(), _BYTES),
        volatile=st.booleans(),
        compression=st.sampled_from([None, "lz4", "off"]),
        record_bytes=st.sampled_from([None, 16384, 131072]),
        loop_without_direct=st.sampled_from([(), ("loop0",)]),
        zfs=st.one_of(st.none(), st.builds(ZfsFacts, st.sampled_from([None, "2.2.4", "2.3.0-rc1", "?"]))),
        ceiling_read_bytes_per_s=_RATES,
        rotational=st.sampled_from([None, True, False]),
        disks=st.sampled_from([None, 1, 4]),
        in_guest=st.sampled_from([None, True]),
    )
    return st.one_of(st.none(), known)


def _cases() -> st.SearchStrategy[Case]:
    part = st.one_of(
        st.none(),
        st.builds(direction, _BYTES, st.floats(0.001, 100), p50_ns=_RATES, mean_ns=_RATES, samples=st.integers(0, 99)),
    )
    results = st.one_of(st.none(), st.builds(said, part, part, error=st.sampled_from([0, 5])))
    return st.builds(
        Case, _jobs(), results, _evidence(), _targets(), st.booleans(), st.sampled_from([None, 0.0, 2.0, 60.0])
    )


@settings(max_examples=80, deadline=None)
@given(_cases())
def test_no_case_breaks_the_judge_and_the_strongest_finding_decides(case: Case) -> None:
    judgement = judge(case)
    strengths = [(_STRENGTH[finding.effect], -finding.weight) for finding in judgement.findings]
    assert strengths == sorted(strengths)
    for metric in measured_metrics(case):
        about = [finding.effect for finding in judgement.findings if finding.is_about(metric)]
        otherwise = "sound" if proves_metric(case, metric) else "unproven"
        expected = _VERDICTS.get(about[0] if about else "notes", otherwise)
        assert judgement.verdicts.get(metric, judgement.verdict) == expected
    assert all("None" not in finding.message for finding in judgement.findings)


@settings(max_examples=50, deadline=None)
@given(_jobs(), _targets())
def test_lint_and_judge_agree_on_a_job_alone(job: Load, target: Target | None) -> None:
    case = Case(job, target=target)
    assert set(lint(case)) == set(judge(case).findings)


def test_only_an_account_makes_sound() -> None:
    for case in _CASES:
        if case.evidence is None or case.evidence.account is None:
            assert judge(case).verdict != "sound"


def test_an_error_of_fio_fails_even_if_the_account_is_in_order() -> None:
    case = Case(jobs("rw=read bs=1m size=1g"), said(read=direction(GIB, 10.0), error=5), counted(read=(GIB, GIB)), EXT4)
    assert judge(case).verdict == "failed"


@pytest.mark.parametrize(
    ("error", "advice"), [(28, "use larger devices"), (122, "use larger devices"), (5, "run fio by hand")]
)
def test_the_advice_fits_the_error_of_fio(error: int, advice: str) -> None:
    case = Case(jobs("rw=write bs=1m size=1g"), said(write=direction(GIB, 10.0), error=error), target=EXT4)
    [fix] = [finding.fix for finding in judge(case).findings if finding.rule == "work-done"]
    assert fix.startswith(advice)


def test_an_account_in_order_clears_a_suspicion_in_the_job() -> None:
    pitfall = jobs("rw=read bs=1m size=1g invalidate=0")
    result = said(read=direction(GIB, 10.0))
    assert judge(Case(pitfall, result, None, EXT4)).verdict == "suspect"
    proven = judge(Case(pitfall, result, counted(read=(GIB, GIB)), EXT4))
    assert (proven.verdict, proven.verdicts["p99"]) == ("sound", "unproven")
    assert [finding.rule for finding in proven.findings] == ["missing-proof"]


def test_a_pitfall_that_does_not_change_the_bytes_becomes_a_note() -> None:
    case = Case(
        jobs("rw=randread bs=4k size=1g direct=1 iodepth=32"),
        said(read=direction(GIB, 10.0)),
        counted(read=(GIB, GIB)),
        EXT4,
    )
    judgement = judge(case)
    assert judgement.verdict == "sound"
    assert [(finding.rule, finding.effect) for finding in judgement.findings] == [("iodepth-with-sync-engine", "notes")]


def test_reads_from_ram_are_sound_if_ram_is_part_of_the_measurement() -> None:
    cached = Case(jobs("rw=read bs=1m size=1g"), said(read=direction(GIB, 10.0)), counted(read=(GIB, 0)), EXT4)
    assert judge(cached).verdict == "refuted"
    assert judge(replace(cached, cold=False)).verdict == "sound"


def test_writes_are_judged_in_a_warm_case_too() -> None:
    case = Case(jobs("rw=write bs=1m size=1g"), said(write=direction(GIB, 10.0)), counted(write=(GIB, 0, GIB)), EXT4)
    assert judge(replace(case, cold=False)).verdict == "refuted"


def test_counters_without_leaves_prove_nothing() -> None:
    evidence = Evidence(account(read=(GIB, GIB)))
    case = Case(jobs("rw=randread bs=4k size=1g direct=1"), said(read=direction(GIB, 10.0)), evidence, EXT4)
    assert judge(case).verdict == "unproven"


def test_small_commits_write_more_and_are_sound() -> None:
    """This is etcd's job. Rounding to pages and the journal make the disks write two to three times as much as fio."""
    case = Case(
        jobs("rw=write bs=2300 size=22m fdatasync=1 ioengine=sync"),
        said(write=direction(22 * 1024**2, 20.0, 2300, p50_ns=9_000.0)),
        counted(write=(22 * 1024**2, 60 * 1024**2, 60 * 1024**2)),
        EXT4,
    )
    judgement = judge(case)
    assert judgement.verdict == "sound"
    assert "amplification" in {finding.rule for finding in judgement.findings}


def test_a_short_trial_is_not_unstable() -> None:
    figures = direction(GIB, 2.0, bandwidth_mean_bytes=1e8, bandwidth_stddev_bytes=9e7, samples=4)
    case = Case(jobs("rw=write bs=1m size=1g end_fsync=1"), said(write=figures), counted(write=(GIB, GIB, GIB)), EXT4)
    assert judge(case).verdict == "sound"


@pytest.mark.parametrize(
    ("sync_ns", "effect"), [(16e6, "notes"), (1e6, "suspects"), (64e6, "suspects")], ids=["busy", "idle", "rare"]
)
def test_an_uneven_rate_of_syncs_is_that_of_the_disk(sync_ns: float, effect: str) -> None:
    """10,000 writes in 170 s: with syncs of 16 ms, all the time is in syncs; with 64 ms, not every write was synced."""
    uneven = direction(10_000 * 4096, 170.0, bandwidth_mean_bytes=2e5, bandwidth_stddev_bytes=2.3e5, samples=233)
    case = Case(Load(()), said(write=uneven, sync=Latency(mean_ns=sync_ns, percentiles_ns={50.0: 2e6})))
    assert [each.effect for each in judge(case).findings if each.rule == "unstable"] == [effect]


@pytest.mark.parametrize(
    ("options", "slat_ns", "effect"),
    [
        ("ioengine=libaio iodepth=4", 27e3, "notes"),
        ("ioengine=libaio iodepth=4", 650e3, "suspects"),
        ("ioengine=io_uring iodepth=4", 27e3, "suspects"),
        ("ioengine=io_uring iodepth=4 sync=1", 27e3, "notes"),
    ],
)
def test_libaio_queues_io_on_files_only_if_direct_is_honoured(options: str, slat_ns: float, effect: str) -> None:
    figures = direction(GIB, 60.0, mean_ns=2.6e6, slat=Latency(mean_ns=slat_ns))
    load = jobs(f"rw=rw bs=8k size=1g direct=1 numjobs=2 filename=/mnt/f {options}")
    found = [each for each in judge(Case(load, said(figures, figures))).findings if each.rule == "shared-file-numjobs"]
    assert [each.effect for each in found] == [effect]
    assert ("direct=1" in found[0].message) != (slat_ns < 1e5 and "libaio" in options)


def test_equal_findings_of_clones_are_reported_once() -> None:
    clone = PartOutcome("job", read=direction(GIB, 10.0, p50_ns=900.0))
    case = Case(jobs("rw=randread bs=4k size=1g numjobs=8 directory=d"), Outcome("fio-3.33", (clone,) * 8), None, EXT4)
    assert [finding.rule for finding in judge(case).findings].count("latency-floor") == 1


def test_the_run_time_of_phases_is_that_of_the_longest() -> None:
    """Two jobs of 2 s run one after the other. The run takes 4 s, although no job runs for more than 2 s."""
    options = "bs=1m size=64g direct=1 runtime=2 time_based=1"
    job = jobs(f"rw=read {options}", f"rw=read stonewall=1 {options}")
    clones = tuple(PartOutcome(name, read=direction(GIB, 2.0)) for name in "ab")
    case = Case(job, Outcome("fio-3.33", clones), counted(read=(2 * GIB, 2 * GIB)), EXT4, asked_s=4.0)
    assert judge(case).verdict == "sound"


def test_an_engine_that_blocks_in_submission_may_complete_fast() -> None:
    """If btrfs turns direct writes into buffered ones, all the time is in slat, and clat is almost 0."""
    figures = direction(GIB, 10.0, p50_ns=700.0, slat=Latency(mean_ns=27_300.0))
    case = Case(jobs("rw=randwrite bs=4k size=1g direct=1 ioengine=libaio"), said(write=figures), None, Target("btrfs"))
    assert "latency-floor" not in {finding.rule for finding in judge(case).findings}


def test_the_fixed_form_of_a_shared_file_did_its_work() -> None:
    job = jobs("rw=write bs=1m size=128m offset_increment=32m numjobs=4 filename=X end_fsync=1")
    case = Case(job, said(write=direction(4 * 32 * 1024**2, 10.0)), None, EXT4)
    assert "work-done" not in {finding.rule for finding in judge(case).findings}


def test_a_failed_verification_is_named_and_verify_only_needs_a_file_with_headers() -> None:
    """fio reports EILSEQ, whose usual text is about multibyte characters."""
    texts = []
    for options in ("rw=read bs=4k size=32m verify=crc32c verify_only=1", "rw=read bs=4k size=32m"):
        (found,) = (each for each in judge(failed_with(84, options)).findings if each.rule == "work-done")
        texts.append((found.message, found.fix))
    assert "verification failed" in texts[0][0] and "without verify_only" in texts[0][1]
    assert "verification" not in texts[1][0] and "verify" not in texts[1][1]
