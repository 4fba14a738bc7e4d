"""Shared and unwritten bytes of test files, according to filefrag 1.47 on btrfs and ext4."""

from collections.abc import Sequence

from poolproof.evidence import model
from poolproof.evidence.test_files import inspect
from poolproof.process import Completed
from tests.unit.facts.told import ToldHost

_HEAD = "Filesystem type is: 9123683e\nFile size of {path} is {size} ({blocks} blocks of 4096 bytes)\n"
_COLUMNS = " ext:     logical_offset:        physical_offset: length:   expected: flags:\n"


class _Host(ToldHost):
    """A host whose files have the given extents: (physical start, blocks, flags)."""

    def __init__(self, extents: dict[str, Sequence[tuple[int, int, str]]]) -> None:
        super().__init__({}, {})
        self._extents = extents

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        assert timeout_s > 0 and stdin is None and check is (argv[0] == "stat")
        if argv[0] == "stat":
            sizes = [sum(blocks for _, blocks, _ in self._extents[path]) for path in argv[2:]]
            return Completed(tuple(argv), 0, "".join(f"{size * 4096} {size * 8} 512\n" for size in sizes), "", 0.0)
        lines, at, path = "", 0, argv[-1]
        for number, (start, blocks, flags) in enumerate(self._extents[path]):
            ends = (at + blocks - 1, start + blocks - 1)
            lines += f"{number:4}: {at:8}..{ends[0]:8}: {start:10}..{ends[1]:10}: {blocks:6}:            {flags}\n"
            at += blocks
        return Completed(tuple(argv), 0, _HEAD.format(path=path, size=at * 4096, blocks=at) + _COLUMNS + lines, "", 0.0)


def _found(**extents: Sequence[tuple[int, int, str]]) -> tuple[model.TestFile, ...]:
    return inspect(_Host(extents), tuple(extents))


def test_one_extent_reflinked_256_times() -> None:
    (file,) = _found(a=[(1000, 64, "shared")] * 255 + [(1000, 64, "last,shared,eof")])
    assert (file.size_bytes, file.shared_bytes) == (256 * 64 * 4096, 255 * 64 * 4096)


def test_files_that_share_blocks_with_each_other_in_part() -> None:
    first, second = _found(a=[(1000, 100, "last,eof")], b=[(1050, 100, "last,eof")])
    assert (first.shared_bytes, second.shared_bytes) == (0, 50 * 4096)


def test_compressed_and_unwritten_extents_have_no_place() -> None:
    (file,) = _found(a=[(1000, 32, "encoded"), (1001, 32, "encoded"), (5000, 10, "unwritten"), (5000, 10, "last,eof")])
    assert (file.shared_bytes, file.unwritten_bytes) == (0, 10 * 4096)
