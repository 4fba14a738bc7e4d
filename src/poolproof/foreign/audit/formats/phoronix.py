"""Parse the averages that the Phoronix Test Suite prints for its tests of fio and iozone.

The line with the name of the test shows its options. The suite runs fio with iodepth=64 and a file of 1 GiB, and copies
the number of fio's `MiB/s` without a conversion, but divides that of `KiB/s` by 1000. It runs iozone with -e and -o,
writes the file before reading it, and divides iozone's kB/s by 1024. Its `MB/s` are therefore MiB/s. Old releases of
its fio test also set `buffered`, which is the inverse of `direct` and comes after it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from poolproof.foreign.audit.amounts import count_of, number, size_in_bytes
from poolproof.foreign.audit.directions import named_direction, named_order
from poolproof.foreign.audit.formats.protocol import (
    MIB,
    ForeignResult,
    FormatReader,
    file_of,
    fio_part,
    outcome_of,
    values,
)
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_TEST = re.compile(
    r"^\s*(?:pts|system|local)/(?P<program>[a-z\d-]{1,40}?)-\d[\d.]{0,12}(?:\s+\[(?P<options>[^\]]{1,300})\])?\s*$"
)
_AVERAGE = re.compile(r"^\s*Average:\s+(?P<value>\d[\d.,]{0,24})\s+(?P<unit>MB/s|IOPS)\s*$")
_NEAR = 60
_ENGINES = {
    "IO_uring": "io_uring", "POSIX AIO": "posixaio", "Sync": "sync", "Linux AIO": "libaio", "Windows AIO": "windowsaio",
}  # fmt: skip
_SWITCHES = {"Yes": "1", "No": "0"}
_MOST_KIB = 10  # fio prints up to 9999 KiB/s, and MiB/s above
_KIB_PER_MB = 1000 * 1024
_WRITTEN = "iozone writes the file before it reads it"
_RUN_TIME = "the run time of each test"


@dataclass
class _SuiteTest:
    """A test of the suite: the line of its name, its program, its options, and the averages found so far."""

    line: int
    program: str
    options: Mapping[str, str]
    last_line: int = 0
    averages: dict[str, float] = field(default_factory=dict)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    test: _SuiteTest | None = None
    for line_number, line in numbered:
        if match := _TEST.match(line):
            yield from _results(test)
            options = (option.partition(": ") for option in (match["options"] or "").split(" - "))
            test = _SuiteTest(
                line_number, match["program"], {name.strip(): value.strip() for name, _, value in options}
            )
        elif test is not None and (match := _AVERAGE.match(line)) and (value := number(match["value"])):
            is_next = line_number - (test.last_line or test.line) <= _NEAR
            if is_next and match["unit"] not in test.averages:
                test.averages[match["unit"]], test.last_line = value, line_number
    yield from _results(test)


def _results(test: _SuiteTest | None) -> Iterator[ForeignResult]:
    if test is None or not test.averages:
        return
    part = _of_fio(test) if test.program == "fio" else _of_iozone(test) if test.program == "iozone" else None
    if part is None:
        return
    rate, iops = test.averages.get("MB/s"), test.averages.get("IOPS")
    is_kib = test.program == "fio" and rate is not None and rate < _MOST_KIB
    figures = values(iops=iops, bandwidth_bytes=rate * (_KIB_PER_MB if is_kib else MIB) if rate else None)
    is_iozone = test.program == "iozone"
    yield ForeignResult(
        test.program,
        test.line,
        test.last_line,
        outcome_of(test.program, part.name, {"read" if part.reads else "write": figures}),
        (part,),
        size_bytes=part.size_bytes,
        missing=(_RUN_TIME,) if is_iozone else (),
        just_written=_WRITTEN if is_iozone and part.reads else "",
    )


def _of_fio(test: _SuiteTest) -> LoadPart | None:
    kind, options = test.options.get("Type", ""), test.options
    direction, order = named_direction(kind), named_order(kind)
    engine = _ENGINES.get(options.get("Engine", options.get("IO Engine", "")))
    direct, block = _direct(options), size_in_bytes(options.get("Block Size", ""))
    if not direction or not order or engine is None or direct is None or not block:
        return None
    name = f"{kind.lower()} {options['Block Size']}"
    rw = f"{'rand' if order == 'random' else ''}{direction}"
    jobs = options.get("Job Count", "1")
    part = fio_part(
        name,
        rw=rw,
        ioengine=engine,
        direct=direct,
        bs=str(block),
        iodepth="64",
        size="1g",
        time_based="1",
        ramp_time="5",
        numjobs=str(count_of(jobs)),
        group_reporting="1",
    )
    return replace(part, averages_runs=True)


def _direct(options: Mapping[str, str]) -> str | None:
    buffered = _SWITCHES.get(options.get("Buffered", ""))
    if buffered is not None:
        return "0" if buffered == "1" else "1"
    return _SWITCHES.get(options.get("Direct", ""))


def _of_iozone(test: _SuiteTest) -> LoadPart | None:
    kind = test.options.get("Disk Test", "")
    size, block = (size_in_bytes(test.options.get(name, "")) for name in ("File Size", "Record Size"))
    direction = named_direction(kind)
    if not direction or not size or not block:
        return None
    is_write = direction == "write"
    return LoadPart(
        direction,
        reads=not is_write,
        writes=is_write,
        block_bytes=block,
        max_block_bytes=block,
        size_bytes=size,
        is_synchronous=True,
        extents=file_of(size),
        syncs=is_write,
        syncs_at_end=is_write,
        writes_are_synchronous=is_write,
        averages_runs=True,
    )


READER = FormatReader(
    "Phoronix Test Suite",
    (
        "https://github.com/phoronix-test-suite/phoronix-test-suite/issues/417",
        "phoronix-test-suite/phoronix-test-suite ob-cache/test-profiles/pts/fio-2.1.0, fio-1.13.2 and iozone-1.9.6",
    ),
    _find,
    ("pts/fio-", "pts/iozone-", "system/iozone-", "system/fio-", "local/fio-", "local/iozone-"),
)
