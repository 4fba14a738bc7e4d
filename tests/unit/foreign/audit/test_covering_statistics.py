"""fio's own disk statistics that cover all bytes: the bandwidth is right, but latencies may be those of RAM."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import block, disks, header

_SECTORS = 4096 // 512
_IOS = 3_000_000  # 50,000 per second for a minute


def _audited(
    kind: str,
    before: str = "",
    sectors: int = _IOS * _SECTORS,
    requests: int = 24_000,
    after: str = "",
    bs: int = 4096,
    slat_us: float | None = None,
) -> Audited:
    """Return the audit of 50,000 I/Os per second, with a median of 1 µs, and of the disk's statistics."""
    body = block("job", kind, 50_000, bs=bs, p50_us=1.1, slat_us=slat_us, clat_us=18)
    counted = (requests, 0, (sectors, 0)) if kind == "read" else (0, requests, (0, sectors))
    text = before + body + after + disks("sdq", counted[0], counted[1], sectors=counted[2])
    return audit_text("post", text, Context())[0]


def _doubts(audited: Audited) -> set[str]:
    return {finding.rule for finding in audited.findings if finding.effect in ("suspects", "refutes")}


@pytest.mark.parametrize(
    "before",
    [
        "",
        header("job", "write", engine="psync"),
        "fio --name=job --rw=write --bs=4k --size=12g --filename=/data/f\n" + header("job", "write", engine="psync"),
    ],
    ids=["only values", "a header", "a command without a sync"],
)
def test_covered_writes_are_not_suspect_but_their_latencies_may_be(before: str) -> None:
    covered, overwritten = _audited("write", before), _audited("write", before, sectors=_IOS * _SECTORS * 2 // 3)
    assert covered.verdict == "unproven"
    assert covered.verdicts.get("p50", "suspect") == "suspect"
    assert overwritten.verdict == "suspect"


def test_covered_sequential_reads_keep_their_bandwidth_but_not_their_iops() -> None:
    unknown, known = _audited("read"), _audited("read", header("job", "read", engine="psync"))
    assert (unknown.verdict, unknown.verdicts["iops"], unknown.verdicts["p50"]) == ("unproven", "suspect", "suspect")
    assert known.verdict == "unproven"
    assert {"sequential-iops", "latency-floor"} <= {finding.rule for finding in known.findings}
    assert _audited("read", sectors=_IOS * _SECTORS // 3 * 2).verdict == "suspect"


def test_random_reads_are_covered_only_if_each_read_caused_a_request() -> None:
    random = header("job", "randread", engine="psync")
    assert _audited("read", random).verdict == "refuted"
    each = _audited("read", random, requests=_IOS)
    assert (each.verdict, each.verdicts["p50"]) == ("unproven", "refuted")


def test_queued_sequential_reads_of_unknown_kind_may_be_combined_by_readahead() -> None:
    queued = header("job", "read", depth=32)
    covered = _audited("read", queued, slat_us=19)
    assert _doubts(covered) == {"async-engine-blocks"}, "the median leaves out the time of submission"
    assert (covered.verdict, covered.verdicts["p50"]) == ("unproven", "suspect")
    assert "disk-statistics" in _doubts(_audited("read", queued, slat_us=19, sectors=_IOS * _SECTORS // 3 * 2))


def test_the_layout_of_files_and_other_groups_do_not_cover_a_result() -> None:
    command = "fio --name=job --rw=write --bs=4k --size=12g --filename=/data/f{}\n"
    assert "write-without-sync" not in _doubts(_audited("write", command.format("")))
    assert "write-without-sync" in _doubts(_audited("write", command.format(" --ramp_time=10")))
    second = block("job", "write", 50_000, p50_us=1.1, clat_us=18, group=1)
    assert "latency-floor" in _doubts(_audited("write", after=second))


def test_writes_smaller_than_a_page_count_as_pages() -> None:
    """The page cache writes 4 KiB for each 512 bytes at a random offset, so bytes alone do not cover such writes."""
    random = header("job", "randwrite", 512, engine="psync")
    sectors = 3_000_000
    assert "latency-floor" in _doubts(_audited("write", random, sectors=sectors, bs=512))
    assert not _doubts(_audited("write", random, sectors=sectors * _SECTORS, bs=512)) - {"latency-floor"}


@pytest.mark.parametrize(
    ("kind", "share", "rules"),
    [
        ("write", 0.88, {"write-not-on-disk"}),
        ("write", 0.92, set()),
        ("read", 0.83, {"read-from-cache"}),
        ("read", 0.87, set()),
    ],
)
def test_the_bytes_in_the_statistics_contradict_a_result_that_no_job_explains(
    kind: str, share: float, rules: set[str]
) -> None:
    """The allowance for the end of a run is 0.5 s of 60 s, which is less than 1%."""
    doubts = _doubts(_audited(kind, sectors=round(share * _IOS * _SECTORS)))
    assert doubts & {"write-not-on-disk", "read-from-cache"} == rules


def test_requests_alone_do_not_show_how_many_bytes_the_disks_moved() -> None:
    """Releases before 3.36 print no sectors. 24,000 requests can have moved 3/4 of 11.4 GiB, and much more."""
    body = block("job", "write", 50_000)
    (audited,) = audit_text("post", body + disks("sdq", 0, 24_000), Context())
    assert not _doubts(audited)
