"""Read the line that fio updates while it runs, in texts without any other result: `Jobs: 1 (f=1): [w(1)][9.5%][w=…`.

People stop a run early, or quote only this line to show a rate. It is the rate of about a second, so it is never
refuted, and the last such line of a run stands for it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from poolproof.foreign.audit.amounts import amount, number
from poolproof.load.fio.announced_jobs import announced
from poolproof.load.fio.job import Job
from poolproof.load.fio.pairing import FoundResult, pair
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.load.fio.source_commands import source_commands
from poolproof.load.fio.text_lines import header, version
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_NEW = re.compile(
    r"Jobs: (?P<jobs>\d{1,4}) \(f=\d{1,6}\): \[[^\[\]]{1,2000}\]\[[^\[\]]{1,12}\]"
    r"\[(?P<rates>[rwt]=[\d.]{1,9}[kKMGT]?i?B/s(?:,[rwt]=[\d.]{1,9}[kKMGT]?i?B/s){0,2})\]"
    r"\[(?P<iops>[rwt]=[\d.]{1,9}[kKMG]?(?:,[rwt]=[\d.]{1,9}[kKMG]?){0,2}) IOPS\]"
)
_OLD = re.compile(
    r"Jobs: (?P<jobs>\d{1,4}) \(f=\d{1,6}\): \[[^\[\]]{1,2000}\] \[[^\[\]]{1,12} done\]"
    r" \[(?P<rates>[\d.]{1,9}[KMGT]?B?(?:/[\d.]{1,9}[KMGT]?B?){1,2}) ?/s\]"
    r" \[(?P<iops>[\d.]{1,9}[KMG]? ?(?:/[\d.]{1,9}[KMG]? ?){1,2}) iops\]"
)
_KINDS = {"r": "read", "w": "write", "t": "trim"}
_LONGEST_LINE = 20_000  # fio overwrites the line, but logs contain all of its versions


@dataclass
class _Progress:
    """A run, of which only the jobs and the progress are known. `values`: the last rates that are not 0."""

    headers: list[Job] = field(default_factory=list)
    header_line: int = 0
    line: int = 0
    clones: int = 0
    values: dict[str, Direction] = field(default_factory=dict)


def find_progress(text: str) -> tuple[FoundResult, ...]:
    """Return the last rates of each run in the text, with the command that the run fits, in line order."""
    numbered = plain_lines(text)
    if not any("Jobs: " in line for _, line in numbered):
        return ()
    found = [_result(run) for run in _runs(numbered) if run.values]
    return pair(found, source_commands(numbered)) if found else ()


def _runs(numbered: Sequence[Line]) -> Iterator[_Progress]:
    run = _Progress()
    for line_number, line in numbered:
        if len(line) > _LONGEST_LINE:
            continue
        announced_job = header(line)
        if run.line and (announced_job is not None or version(line) is not None):
            yield run
            run = _Progress()
        if announced_job is not None:
            run.headers.append(announced_job)
            run.header_line = run.header_line or line_number
        for match in (*_NEW.finditer(line), *_OLD.finditer(line)) if "Jobs: " in line else ():
            run.clones = max(run.clones, int(match["jobs"]))
            if values := _values(match):
                run.line, run.values = line_number, values
    yield run


def _values(match: re.Match[str]) -> dict[str, Direction]:
    """Return the rates of a line by direction. Directions without I/O are left out."""
    if "=" in match["rates"]:
        rates, counts = (dict(each.split("=") for each in match[name].split(",")) for name in ("rates", "iops"))
    else:
        rates, counts = (dict(zip("rwt", match[name].split("/"), strict=False)) for name in ("rates", "iops"))
    found: dict[str, Direction] = {}
    for key, kind in _KINDS.items():
        rate = amount(rates.get(key, "0").removesuffix("/s"), 1024)
        iops = number(counts.get(key, "0").strip())
        if rate and iops:
            found[kind] = Direction(iops=iops, bandwidth_bytes=rate)
    return found


def _result(run: _Progress) -> FoundResult:
    names = {job.name for job in run.headers}
    name = names.pop() if len(names) == 1 else ""
    part = PartOutcome(
        name,
        clones=run.clones if name else 1,
        read=run.values.get("read"),
        write=run.values.get("write"),
        trim=run.values.get("trim"),
    )
    outcome = Outcome("", (part,))
    made = announced(run.headers, outcome, run.header_line) if run.headers else None
    return FoundResult(outcome, run.line, run.line, "progress", made)
