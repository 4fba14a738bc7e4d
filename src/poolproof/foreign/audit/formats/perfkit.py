"""Parse fio's results in the summary that PerfKit Benchmarker prints.

Each job has a line for the bandwidth (in KiB/s, labelled KB/s), the mean latency and the IOPS. The job's options are in
parentheses behind the value, and the options of all jobs are above the first result:

      direct="1" filename="fio_test_file" ioengine="libaio"
      sequential_write:write:bandwidth    60009.000000 KB/s      (blocksize="512k" iodepth="64" rw="write")
      sequential_write:write:iops         117.000000             (blocksize="512k" iodepth="64" rw="write")
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, fio_part, outcome_of, values
from poolproof.load.fio.option_names import canonical
from poolproof.load.fio.plain_lines import Line
from poolproof.load.model import LoadPart

_RESULT = re.compile(
    r"^\s{0,12}(?P<name>[\w.-]{1,60}):(?P<kind>read|write):(?P<metric>bandwidth|iops|latency)\s{1,40}"
    r"(?P<value>\d{1,15}(?:\.\d{1,9})?)(?:\s(?P<unit>KB/s|usec|nsec))?\s{1,60}\((?P<options>.{0,900})$"
)
_OPTION = re.compile(r'(?P<name>[a-z_]{1,30})="(?P<value>[^"$]{1,60})"')
_SHARED = re.compile(r'^\s{0,12}(?:[a-z_]{1,30}="[^"]{0,200}"\s{0,3}){2,30}$')
_OPTIONS = {"rw", "bs", "iodepth", "direct", "ioengine", "end_fsync", "filename", "numjobs", "runtime", "time_based"}
_NS = {"usec": 1e3, "nsec": 1.0}
_KIB = 1024
_MISSING = ("the size of the file, the bytes moved and the run time: the summary prints only rates",)


@dataclass
class _JobSummary:
    """The values of one direction of a job. `last`: the last line with one of them."""

    name: str
    kind: str
    line: int
    last: int
    options: dict[str, str]
    found: dict[str, float] = field(default_factory=dict)

    def result(self) -> ForeignResult:
        rate = self.found.get("bandwidth")
        moved = values(
            iops=self.found.get("iops"), bandwidth_bytes=rate and rate * _KIB, mean_ns=self.found.get("latency")
        )
        outcome = outcome_of("fio", self.name, {self.kind: moved})
        return ForeignResult("fio", self.line, self.last, outcome, self._parts(), missing=_MISSING)

    def _parts(self) -> tuple[LoadPart, ...]:
        is_known = {"rw", "ioengine", "direct"} <= self.options.keys()
        return (fio_part(self.name, **self.options),) if is_known else ()


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    shared: dict[str, str] = {}
    jobs: dict[tuple[str, str], _JobSummary] = {}
    for line_number, line in numbered:
        match = _RESULT.match(line)
        if match is None:
            shared = _options(line) if _SHARED.match(line) else shared
            continue
        key = match["name"], match["kind"]
        if key in jobs and match["metric"] in jobs[key].found:
            yield jobs.pop(key).result()
        job = jobs.setdefault(key, _JobSummary(*key, line_number, line_number, {}))
        job.last, job.options = line_number, shared | job.options | _options(match["options"])
        if (value := number(match["value"])) is not None:
            job.found[match["metric"]] = value * _NS.get(match["unit"] or "", 1.0)
    yield from (job.result() for job in jobs.values() if job.found.keys() & {"iops", "bandwidth"})


def _options(text: str) -> dict[str, str]:
    pairs = ((canonical(each["name"]), each["value"]) for each in _OPTION.finditer(text))
    return {name: value for name, value in pairs if name in _OPTIONS}


READER = FormatReader(
    "PerfKit Benchmarker",
    ("https://github.com/GoogleCloudPlatform/gcsfuse/issues/83",),
    _find,
    (":bandwidth ", ":iops "),
)
