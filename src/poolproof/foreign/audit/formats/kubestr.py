"""Parse the summary that kubestr prints of its fio jobs.

For each job, the summary shows `JobName: read_iops`, the job's options, and `IOPS=… BW(KiB/s)=…` for reads or writes.
Above the first job, it shows the global options. If they are missing or empty, the jobs are unknown. If only `direct`
is empty, a job may still set it, because kubestr shows only a few options of each job.
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.amounts import number
from poolproof.foreign.audit.formats.protocol import ForeignResult, FormatReader, fio_part, values
from poolproof.load.fio.option_names import canonical
from poolproof.load.fio.plain_lines import Line
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_GLOBAL = re.compile(r"^\s*Global options\s*-\s*(?P<options>.*)$")
_JOB = re.compile(r"^\s*JobName:\s*(?P<name>.*?)\s*$")
_OPTIONS = re.compile(r"^\s*+(?:\w++=\S*+\s*+)++$")
_DIRECTION = re.compile(r"^\s*\**(?P<name>read|write)\**:\**\s*$")  # often in bold letters in Markdown
_RATE = re.compile(r"^\s*IOPS=(?P<iops>\d[\d.]*)\s+BW\(KiB/s\)=(?P<bw>\d[\d.]*)?")
_GLOBAL_OPTIONS = "kubestr's line with the global options, such as ioengine and direct"
_DIRECT = "the direct setting: kubestr shows it only if it is a global option"
_MISSING = ("the size of the cache behind the volume, the bytes moved and the run time: kubestr prints only rates",)


def _find(numbered: Sequence[Line]) -> Iterator[ForeignResult]:
    shared: dict[str, str] = {}
    job: _KubestrJob | None = None
    for line_number, line in numbered:
        if match := _GLOBAL.match(line):
            shared = _options(match["options"])
        elif match := _JOB.match(line):
            if job is not None and (found := job.finished()):
                yield found
            job = _KubestrJob(match["name"], line_number, dict(shared))
        elif job is not None:
            job.take(line_number, line)
    if job is not None and (found := job.finished()):
        yield found


class _KubestrJob:
    """A job that is still being parsed."""

    def __init__(self, name: str, line: int, options: dict[str, str]) -> None:
        self.name, self.line, self.last_line, self.options = name, line, line, options
        self.directions: dict[str, Direction] = {}
        self._direction = ""

    def take(self, line_number: int, line: str) -> None:
        if match := _DIRECTION.match(line):
            self._direction = match["name"]
        elif (match := _RATE.match(line)) and self._direction:
            iops, kib = number(match["iops"]), number(match["bw"] or "")
            self.directions[self._direction] = values(iops=iops, bandwidth_bytes=None if kib is None else kib * 1024)
            self._direction = ""
            self.last_line = line_number
        elif not self.directions and _OPTIONS.match(line):
            self.options |= _options(line)

    def _assumed(self) -> dict[str, str]:
        """Return the options that kubestr may not show, with the values most favourable to the result.

        The mapping is empty if kubestr shows `direct`.
        """
        if "direct" in self.options:
            return {}
        return {"direct": "1", "end_fsync": "1"} if "write" in self.options["rw"] else {"direct": "1"}

    def finished(self) -> ForeignResult | None:
        moved = {name: found for name, found in self.directions.items() if found.iops or found.bandwidth_bytes}
        if not moved:
            return None
        outcome = Outcome("kubestr", (PartOutcome(self.name, read=moved.get("read"), write=moved.get("write")),))
        is_known = "rw" in self.options and "ioengine" in self.options
        assumed = self._assumed() if is_known else {}
        parts = (fio_part(self.name, **assumed, **self.options),) if is_known else ()
        gaps = (_DIRECT,) if "direct" in assumed else () if is_known else (_GLOBAL_OPTIONS,)
        return ForeignResult(
            "kubestr", self.line, self.last_line, outcome, parts, missing=(*gaps, *_MISSING), assumed=frozenset(assumed)
        )


def _options(text: str) -> dict[str, str]:
    pairs = (word.partition("=") for word in text.split())
    return {canonical(name): value for name, equals, value in pairs if equals and value}


READER = FormatReader(
    "kubestr",
    ("https://github.com/rook/rook/issues/13483", "https://github.com/kastenhq/kubestr/issues/68"),
    _find,
    ("bw(kib/s)=",),
)
