"""Parse the statistics at the end of ioping's output, and the two ioping tests of nench.sh.

ioping sends one request at a time. Its rate is the number of requests divided by the time that they took, excluding the
pauses between them. If its target is a directory, it uses a temporary file of 1 MiB, or of the size given with -S.
nench.sh runs `ioping -DR` and `ioping -DRL`, and prints one line of each output.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolproof.foreign.audit.amounts import amount, number, seconds, size_in_bytes, whole
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, file_of, outcome_of, values
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_HEAD = re.compile(r"^\s*--- (?P<path>\S.{0,200}?) \((?P<target>[^()]{1,200})\) ioping statistics ---\s*$")
_SHORT_HEAD = re.compile(r"^\s*ioping: (?P<what>seek rate|sequential (?:read )?speed)\s*$")
_GLUED = re.compile(r"(?<=ioping statistics ---)(?=\s*\d)")
_DONE = re.compile(
    r"^\s*(?:generated )?(?P<count>\d[\d.]{0,12}(?: [kMG])?) requests (?:completed )?in "
    r"(?P<time>\d[\d.]{0,12} (?:ns|us|ms|s|min|hours?)), (?:(?P<size>\d[\d.]{0,12} (?:[KMGT]iB|B|[kKMGT]))"
    r"(?: (?P<kind>read|written))?, )?(?P<iops>\d[\d.]{0,12}(?: [kMG])?) iops, "
    r"(?P<rate>\d[\d.]{0,12} (?:[KMGT]iB|B|[kmgt]b))/s"
)
_TIMES = re.compile(r"^\s*min/avg/max/mdev = (?:\S+ (?P<unit>ns|us|ms|s) / )(?P<mean>[\d.]{1,12} (?:ns|us|ms|s)) /")
_COMMAND = re.compile(r"(?:(?<![\w/.-])|(?<=/))ioping\s+(?P<words>(?:-\S+\s+|\d\S*\s+)*\S+(?:\s+-[A-Za-z]\S*)*)")
_FLAGS = re.compile(r"(?<!\S)-(?P<letters>[A-Za-z]+)")
_SIZES = re.compile(r"(?<!\S)-[A-Za-z]*(?P<letter>[sS])\s?(?P<size>\d+[kKmMgG]?)(?!\S)")
_REQUEST = re.compile(r"^\s*(?:(?:\d+(?:\.\d+)? )?[KMGT]?i?B|\d+ bytes) (?:from|to|<<<|>>>) .*: request=\d+")
_MOST_BELOW = 3
_NEAR = 15
_DEFAULT_FILE = 1 << 20
_SECTOR = 512
_TEMPORARY = re.compile(r"^(?:tmpfs|ramfs|zram)\b")
_IN_MEMORY = "ioping ran on {target}, which is memory"
_MISSING = ("the results with more than one I/O in flight, because ioping issues one I/O at a time",)
_SMALL = "whether a disk's own RAM served the I/O: the temporary file is 1 MiB unless -S says otherwise"


@dataclass(frozen=True)
class _IopingOptions:
    """The options of an ioping command, or ioping's defaults if the input shows no command."""

    line: int | None = None
    text: str = ""
    letters: frozenset[str] = frozenset()
    block: int = 4096
    working_set: int | None = None


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    asked, since = _IopingOptions(), 0
    numbered = [(number_, part) for number_, line in numbered for part in _GLUED.split(line)]
    for at, (line_number, line) in enumerate(numbered):
        if _REQUEST.match(line):
            since = line_number
        elif match := _HEAD.match(line):
            near = asked if asked.line is not None and line_number - since <= _NEAR else _IopingOptions()
            yield from _statistics(numbered, at, near, match["path"], match["target"])
            asked = _IopingOptions()
        elif match := _SHORT_HEAD.match(line):
            letters = frozenset("DRL" if match["what"].startswith("seq") else "DR")
            yield from _statistics(
                numbered, at, _IopingOptions(letters=letters, block=256 << 10 if "L" in letters else 4096)
            )
        elif found := _command(line_number, line):
            asked, since = found, line_number
        elif asked.line is not None and line_number - since <= _NEAR and _DONE.match(line) and ". (" not in line:
            yield from _statistics(numbered, at - 1, asked)  # the header is cut off
            asked = _IopingOptions()


def _command(line_number: int, line: str) -> _IopingOptions | None:
    match = _COMMAND.search(line)
    if match is None:
        return None
    letters = frozenset("".join(flag["letters"] for flag in _FLAGS.finditer(match["words"])))
    sizes = {found["letter"]: size_in_bytes(found["size"]) for found in _SIZES.finditer(match["words"])}
    block = sizes.get("s") or (256 << 10 if "L" in letters else 4096)
    return _IopingOptions(line_number, match[0].strip(" `"), letters, block, sizes.get("S"))


def _statistics(
    numbered: Sequence[Line], at: int, asked: _IopingOptions, path: str = "", target: str = ""
) -> Iterator[ForeignResult]:
    """Yield the result below the header at index `at` if a line with a rate follows.

    The line with latencies is optional.
    """
    line, last, mean_ns = numbered[max(at, 0)][0], 0, None
    done: re.Match[str] | None = None
    for number_, below in numbered[at + 1 : at + 2 + _MOST_BELOW]:
        if done is None and (done := _DONE.match(below)):
            line, last = number_, number_
        elif match := _TIMES.match(below):
            mean_ns, last = 1e9 * (seconds(match["mean"].replace(" ", "")) or 0.0), number_
            break
        elif _HEAD.match(below) or _SHORT_HEAD.match(below):
            break
    if done is None:
        return
    units = re.sub("[kmgt]b$", lambda unit: f"{unit[0][0].upper()}iB", done["rate"])  # as ioping 0.6 prints them
    rate, iops = amount(units), number(done["iops"])
    is_write = done["kind"] == "written" or "W" in asked.letters
    is_shown = asked.line is not None or bool(asked.letters)
    block = asked.block if is_shown or not rate or not iops else _whole_sectors(rate / iops)
    is_device = "device" in target or path.startswith("/dev/")
    part = _part(asked, path, block, is_write=is_write, is_device=is_device)
    figures = values(iops=iops, bandwidth_bytes=rate, mean_ns=mean_ns or None)
    missing = _MISSING if is_device or asked.working_set else (*_MISSING, _SMALL)
    yield ForeignResult(
        "ioping",
        line,
        last,
        outcome_of("ioping", part.name, {"write" if is_write else "read": figures}),
        (part,),
        asked.text,
        asked.line,
        missing=missing,
        is_on_device=is_device,
        measures_memory=_IN_MEMORY.format(target=target) if _TEMPORARY.match(target) else "",
    )


def _whole_sectors(block: float) -> int:
    """Round a block size to whole sectors, because it was computed from two rounded rates and is therefore inexact."""
    return max(1, round(block / _SECTOR)) * _SECTOR


def _part(asked: _IopingOptions, path: str, block: int, *, is_write: bool, is_device: bool) -> LoadPart:
    is_sequential = "L" in asked.letters
    order = "sequential" if is_sequential else "random"
    part = LoadPart(
        f"{order} {'writes' if is_write else 'reads'}",
        reads=not is_write,
        writes=is_write,
        is_random=not is_sequential,
        block_bytes=max(1, block),
        max_block_bytes=max(1, block),
        is_synchronous=True,
        direct="D" in asked.letters,
        syncs=is_write,
        writes_are_synchronous=is_write,
        may_use_page_cache="D" not in asked.letters,
    )
    size = asked.working_set or (None if is_device or not path else _DEFAULT_FILE)
    return replace(part, extents=file_of(whole(None if size is None else float(size))))


READER = FormatReader(
    "ioping",
    (
        "https://github.com/koct9i/ioping/issues/19 (0.6)",
        "https://github.com/koct9i/ioping/issues/31 (1.0)",
        "https://github.com/drklee3/vps-benches logs/Scaleway.START1-XS.1GB.log",
        "https://github.com/xioustic/vps-benchmarks 2018-08-30/vultr.md (nench.sh)",
    ),
    _find,
    (" iops, ",),
)
