"""ZFS's own counters before and after a trial."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from hypothesis import given
from hypothesis import strategies as st

from poolproof.evidence.model import DatasetUse, ZfsUse
from poolproof.evidence.zfs import KSTATS, ZfsCounters, parse_kstat, read_zfs, use_between
from poolproof.hosts.base import Tick
from poolproof.process import Completed

# /proc/spl/kstat/zfs/zil of OpenZFS 2.1.11
ZIL = """\
15 1 0x01 13 3536 179362189150 1073522593010
name                            type data
zil_commit_count                4    35
zil_commit_writer_count         4    35
zil_itx_metaslab_normal_bytes   4    184
zil_itx_metaslab_slog_bytes     4    6367720
"""
ARC = """\
12 1 0x01 123 33456 179338576520 1072051326490
name                            type data
l2_read_bytes                   4    0
l2_write_bytes                  4    79032320
"""
# A pool of OpenZFS 2.3; a pool of 2.1 has only the counters of trim.
IOSTATS = """\
40 1 0x01 26 7072 1025639304060 1073763555450
name                            type data
trim_extents_written            4    0
arc_read_bytes                  4    4096
direct_read_bytes               4    1048576
direct_write_bytes              4    638976
"""
IOSTATS_2_1 = "\n".join(IOSTATS.splitlines()[:3])


# /proc/spl/kstat/zfs/tank/objset-0x36 of OpenZFS 2.1.11
OBJSET = """\
31 1 0x01 7 2160 25936187710 1072523593010
name                            type data
dataset_name                    7    tank
writes                          4    {writes}
nwritten                        4    {written}
reads                           4    12
nread                           4    {read}
nunlinks                        4    0
nunlinked                       4    0
"""


class KstatHost:
    """A host with the given files. Reading any other file yields an empty string."""

    name = "kstats"

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        raise AssertionError((argv, timeout_s, stdin, check))

    def read(self, path: str) -> str:
        raise AssertionError(path)

    def read_files(self, paths: Sequence[str]) -> Tick:
        return Tick(1.0, tuple(self._files.get(path, "") for path in paths))

    def stream(self, paths: Sequence[str], interval_s: float) -> AbstractContextManager[Iterator[Tick]]:
        raise AssertionError((paths, interval_s))


def read(iostats: str) -> ZfsCounters:
    host = KstatHost({f"{KSTATS}/zil": ZIL, f"{KSTATS}/arcstats": ARC, f"{KSTATS}/tank/iostats": iostats})
    found = read_zfs(host, ["tank"])
    assert found is not None
    return found


def test_a_layout_without_a_pool_reads_nothing() -> None:
    assert read_zfs(KstatHost({}), ()) is None
    assert use_between(None, None) is None


def test_the_difference_of_the_counters() -> None:
    start = read(IOSTATS)
    end = ZfsCounters(
        arc={**start.arc, "l2_read_bytes": 512, "l2_write_bytes": 79032320 + 8192},
        log={**start.log, "zil_commit_count": 135, "zil_itx_metaslab_slog_bytes": 6367720 + 4096},
        pools=({**start.pools[0], "direct_read_bytes": 2 * 1048576, "direct_write_bytes": 950272},),
    )
    assert use_between(start, end) == ZfsUse(
        direct_read_bytes=1048576,
        arc_read_bytes=0,
        zil_commits=100,
        zil_slog_bytes=4096,
        zil_normal_bytes=0,
        l2_read_bytes=512,
        l2_write_bytes=8192,
        direct_write_bytes=950272 - 638976,
    )


def test_the_bytes_of_a_dataset() -> None:
    def at(read: int, written: int) -> ZfsCounters | None:
        text = OBJSET.format(writes=3, written=written, read=read)
        return read_zfs(KstatHost({f"{KSTATS}/tank/objset-0x36": text}), ["tank"], ["tank/objset-0x36"])

    use = use_between(at(100, 1000), at(150, 3000))
    assert use is not None
    assert use.datasets == (DatasetUse("tank", 50, 2000),)


def test_a_dataset_that_is_gone_is_left_out() -> None:
    use = use_between(read(IOSTATS), read_zfs(KstatHost({}), ["tank"], ["tank/objset-0x36"]))
    assert use is not None
    assert use.datasets == ()


def test_counters_that_a_release_does_not_have_are_none() -> None:
    use = use_between(read(IOSTATS_2_1), read(IOSTATS_2_1))
    assert use is not None
    assert (use.direct_read_bytes, use.direct_write_bytes, use.arc_read_bytes) == (None, None, None)
    assert use.zil_commits == 0
    assert use_between(read(""), read("")) == use


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(isinstance(value, int) for value in parse_kstat(text).values())
