"""Advice given with a verdict: bounds on the true rate, a corrected fio command, and a `poolproof run` command."""

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from poolproof.campaign.flags import parse_workload_flag
from poolproof.campaign.generator_option import DEFAULT_GENERATOR
from poolproof.errors import PoolproofError
from poolproof.foreign.audit.counted_syncs import writes_per_sync
from poolproof.foreign.audit.directions import named_order
from poolproof.foreign.audit.formats.protocol import ForeignResult
from poolproof.foreign.audit.model import Estimate
from poolproof.foreign.audit.tables.table_context import TextJobs, block_in
from poolproof.load.fio.commandline import SUBSTITUTED, quoted
from poolproof.load.fio.job import Job, Jobs, is_disk_path, plain_path
from poolproof.load.fio.load import job_of, load_of
from poolproof.load.fio.option_names import ALL_NAMES
from poolproof.load.model import Load, LoadPart
from poolproof.load.outcome import Direction, Outcome
from poolproof.rules.flow import cold_reads, late_writes, writes
from poolproof.rules.judge import Judgement, lint
from poolproof.rules.model import Case, Finding
from poolproof.rules.reported import Kind, bandwidth_bytes, parts
from poolproof.rules.rule_catalogue import all_rules, rules_of
from poolproof.units import canonical_size, format_rate

_NEGLIGIBLE = 0.02
_OUTPUT = "--output-format=json+"
_OPTIONS = (
    "rw", "bs", "bsrange", "bssplit", "bs_unaligned", "size", "io_size", "nrfiles", "filesize", "offset", "iodepth",
    "io_submit_mode", "numjobs", "direct", "buffered", "ioengine", "fsync", "fdatasync", "sync", "end_fsync",
    "fsync_on_close", "rwmixread", "rwmixwrite", "percentage_random", "random_distribution", "refill_buffers",
    "zero_buffers", "buffer_compress_percentage", "dedupe_percentage", "norandommap", "randrepeat", "rate", "rate_iops",
    "thinktime", "thinktime_blocks",
)  # fmt: skip
"""The options that determine a job's I/O, apart from its files and its run time."""

_ALARMS = ("fails", "refutes", "suspects")
_SPECIAL = frozenset(" |()$:,{}'\"\\")
_UNKNOWN_FOLDER = "/path/on/the/disk"
_WINDOWS_DEVICES = ("\\\\.\\", "\\\\?\\")
_ON_LINUX = {"windowsaio": "libaio", "solarisaio": "libaio"}
_SECTOR, _NEAR = 512, 0.05
_MOST_ROUNDS = 4
_MIXED = re.compile(r"rand?rw|\brw\b|mixed|\b\d\d[:/]\d\d\b", re.IGNORECASE)
_KINDS: tuple[Kind, ...] = ("read", "write")


def estimate_of(case: Case, judgement: Judgement) -> Estimate | None:
    """Return bounds on the true rate of a suspect or refuted result, or None for any other result.

    If the disks' counters contradict the result, the bounds come from the counters. Otherwise, they come from the
    findings and the disks' maximum rate. None is also returned if no bound is clearly below the reported rate, or if
    the job both read and wrote or did neither.
    """
    kinds = [kind for kind in _KINDS if bandwidth_bytes(case.outcome, kind)]
    if len(kinds) != 1 or judgement.verdict not in ("suspect", "refuted"):
        return None
    kind = kinds[0]
    rate = bandwidth_bytes(case.outcome, kind) or 0.0
    for flow in (cold_reads(case),) if kind == "read" else (writes(case), late_writes(case)):
        if flow is not None and not flow.in_order and not flow.of_all_work:
            honest, share = rate * flow.ratio, f"at most {flow.share}" if flow.is_bound else flow.share
            low = 0.0 if flow.is_bound else honest
            return Estimate(low, honest, f"the disks transferred {share} of the reported bytes")
    causes = rules_of(finding for finding in judgement.findings if finding.effect in ("refutes", "suspects"))
    bounds = [rule.least_rate(case, rate) for rule in causes if rule.least_rate is not None]
    return _by_arithmetic(case, kind, rate, bounds)


def _by_arithmetic(case: Case, kind: Kind, rate: float, bounds: Sequence[tuple[float, str]]) -> Estimate | None:
    low, high, why = rate, rate, []
    if bounds:
        low = min(least for least, _ in bounds)
        why += [text for _, text in bounds]
    ceiling = getattr(case.target, f"ceiling_{kind}_bytes_per_s", None)
    if ceiling is not None and ceiling < rate:
        high = ceiling
        low = min(low, high)
        why.append(f"the disks can do at most {format_rate(ceiling)}" if bounds else "the limit of the disks")
    if low >= (1 - _NEGLIGIBLE) * rate:
        return None
    return Estimate(low if bounds else 0.0, high, "; ".join(why))


def rerun_command(case: Case, findings: Iterable[Finding]) -> str | None:
    """Return the fio command with all fixes that change its options, or None if jobs are unknown, unnamed or not fio's.

    Also None if the files are in memory (the same command would use memory again), if a value is the output of another
    command, or if fio does not have one of the options.

    Options shared by all jobs are placed before the first --name, because fio applies those to every job.
    """
    if not case.jobs or case.generator != DEFAULT_GENERATOR or any(not part.name for part in case.jobs):
        return None
    if case.target is not None and case.target.volatile:
        return None
    given = [option for part in case.jobs for option in job_of(part).options.items()]
    if any(name not in ALL_NAMES or SUBSTITUTED in value for name, value in given):
        return None
    jobs = _repaired(case, {finding.rule for finding in findings})
    shared = {
        name: value
        for name, value in jobs[0].options.items()
        if len(jobs) > 1 and all(job.options.get(name) == value for job in jobs[1:])
    }
    words = [_OUTPUT, *_words(shared)]
    for job in jobs:
        specific = {name: value for name, value in job.options.items() if name not in shared}
        words += [f"--name={job.name}", *_words(specific)]
    return " ".join(["fio", *map(quoted, words)])


def _repaired(case: Case, rules: set[str]) -> Jobs:
    """Return the jobs with the fixes of these rules, and of the rules for which lint reports an error or a warning.

    Because one fix can undo another, all fixes are applied repeatedly, until none of them changes anything or a limit
    is reached.
    """
    jobs = tuple(Job(part.name, _fixed(case, part, rules)) for part in case.load.parts)
    for _ in range(_MOST_ROUNDS):
        fixed = replace(case, load=load_of(jobs))
        alone = Case(fixed.load, target=None, cold=case.cold)
        alarms = {finding.rule for finding in lint(alone) if finding.effect in _ALARMS}
        of_results = {rule.id for rule in all_rules() if rule.in_job is None}
        left = rules & ({finding.rule for finding in lint(fixed)} | of_results) | alarms
        again = tuple(Job(part.name, _fixed(fixed, part, left)) for part in fixed.load.parts)
        if again == jobs:
            break
        jobs = again
    return jobs


def overwritten_devices(case: Case) -> tuple[str, ...]:
    """Return the paths of the devices that fio's jobs write to or trim, and the directories of `opendir`."""
    parts = [part for part in case.jobs if part.source is not None]
    devices = [path for part in parts for path in map(plain_path, _written(part)) if _may_be_disk(path)]
    folders = [job_of(part).text("opendir") for part in parts if part.writes or part.trims]
    return tuple(dict.fromkeys([*devices, *filter(None, folders)]))


def _written(part: LoadPart) -> Iterator[str]:
    """Yield the paths to which a job writes, except those of files that fio names."""
    job = job_of(part)
    yield from job.side_files.values()
    if job.text("read_iolog"):  # the trace can contain writes, whatever `rw` is
        yield job.text("replay_redirect") or ""
    if part.writes or part.trims:
        form = job.text("filename_format")
        yield from map(job.path, job.filenames or ((form,) if form else ()))


def _may_be_disk(path: str) -> bool:
    return is_disk_path(path) or path.startswith(_WINDOWS_DEVICES)


def _fixed(case: Case, part: LoadPart, rules: set[str]) -> dict[str, str]:
    options = {name: value for name, value in job_of(part).options.items() if name != "name"}
    for rule in all_rules():
        for name, value in (rule.changes(case, part) if rule.id in rules else {}).items():
            if value != options.get(name):
                options.pop(name, None)
                options.update({} if value is None else {name: value})
    return options


def _words(options: Mapping[str, str]) -> list[str]:
    return [f"--{name}={value}" if value else f"--{name}" for name, value in options.items()]


def proof_of(case: Case, foreign: ForeignResult | None, *, is_header: bool = False) -> str | None:
    """Return a `poolproof run` command that repeats the I/O and checks the result against the disks' counters.

    None if there are several jobs, or if a campaign cannot run the job. If the jobs are unknown, the command is derived
    from the reported values. `is_header`: True if only fio's header line shows the job.
    """
    if not case.jobs:
        return _similar(case)
    if len(case.jobs) != 1:
        return None
    (part,) = case.jobs
    is_fio = part.source is not None
    options = dict(_of_fio(part, is_header=is_header) if is_fio else _of_program(part, case.outcome, foreign))
    if "rw" not in options or any("$" in value or "," in value for value in options.values()):
        return None
    (repaired,) = _repaired(replace(case, load=load_of((Job("proof", options),))), set())
    workload = ",".join(f"{name}={value}" for name, value in repaired.options.items() if name in _OPTIONS)
    try:
        parse_workload_flag(workload)
    except PoolproofError:
        return None
    return shlex.join(["poolproof", "run", "--layout", f"dir {_folder(part)}", "--workload", workload])


def _of_fio(part: LoadPart, *, is_header: bool) -> Iterator[tuple[str, str]]:
    """Yield the options that determine the I/O of fio's job.

    A campaign sets direct=1 by default, but fio does not. Therefore, direct=0 is added to a job without it, unless only
    fio's header line is known, which does not show it.
    """
    given = job_of(part).options
    for name in _OPTIONS:
        if name in given:
            yield name, _ON_LINUX.get(given[name] or "1", given[name] or "1")
    if not given.keys() & {"direct", "buffered"} and not is_header:
        yield "direct", "0"


def _of_program(part: LoadPart, outcome: Outcome | None, foreign: ForeignResult | None) -> Iterator[tuple[str, str]]:
    """Yield the fio options that reproduce another program's I/O."""
    directions = "rw" if part.is_mixed else "read" if part.reads else "write" if part.writes else ""
    if not directions or part.block_bytes <= 0 or (foreign is not None and not foreign.shows_block):
        return
    yield "rw", f"rand{directions}" if part.is_random else directions
    yield "bs", canonical_size(part.block_bytes).lower()
    if foreign is not None and foreign.size_bytes:
        is_total = Load((part,)).unique_bytes == foreign.size_bytes  # in fio, size is that of each clone
        each = foreign.size_bytes // part.clones // part.block_bytes * part.block_bytes
        yield "size", canonical_size(each if is_total and each else foreign.size_bytes).lower()
    if part.depth > 1:
        yield from (("ioengine", "libaio"), ("iodepth", str(part.depth)))
    if part.clones > 1:
        yield "numjobs", str(part.clones)
    if part.direct:
        yield "direct", "1"
    if part.is_mixed and (share := _read_share(outcome)):
        yield "rwmixread", share
    if part.writes and part.writes_are_synchronous:
        yield "sync", "dsync"
    elif part.writes and part.sync_every:
        yield "fsync", str(part.sync_every)
    if part.writes and not part.writes_are_synchronous and (part.syncs_at_end or not (part.direct or part.sync_every)):
        yield "end_fsync", "1"


def _read_share(outcome: Outcome | None) -> str:
    """Return the percentage of I/Os that were reads, or an empty string if it is unknown."""
    reads, writes = (sum(part.figures.iops or 0.0 for part in parts(outcome) if part.kind == kind) for kind in _KINDS)
    return str(min(99, max(1, round(100 * reads / (reads + writes))))) if reads and writes else ""


def _similar(case: Case) -> str | None:
    """Return a `poolproof run` command for an unknown job, derived from the values that it reported.

    The command has the same direction (read or write), block size and numjobs as the job. If the direction is unknown,
    as with the last line of dd's output, the command runs both a read and a write workload. It also does so if the
    values for reads and writes may be those of two jobs. If it is unknown whether the I/O was random or sequential, the
    command runs both. None unless values were reported for exactly one job.
    """
    found = [part for part in case.outcome.parts if part.directions] if case.outcome else []
    if len({part.name for part in found}) != 1:
        return None
    directions, name = found[0].directions, found[0].name
    orders = ["rand"] if named_order(name) == "random" else [""]
    if case.generator == DEFAULT_GENERATOR and not named_order(name):
        orders = ["", "rand"]
    known = [kind for kind in _KINDS if kind in directions]
    is_mixed = len(known) == 2 and (_MIXED.search(name) or all(each.io_bytes for each in directions.values()))
    interval = writes_per_sync(found)
    options = f"bs={_block(next(iter(directions.values())), name)},{f'fsync={interval}' if interval else 'direct=1'}"
    if is_mixed and (share := _read_share(case.outcome)):
        options += f",rwmixread={share}"
    if (clones := sum(part.clones for part in found)) > 1:
        options += f",numjobs={clones}"
    kinds = ["rw"] if is_mixed else known or _KINDS
    runs = [words for order in orders for kind in kinds for words in ("--workload", f"rw={order}{kind},{options}")]
    return shlex.join(["poolproof", "run", "--layout", f"dir {_UNKNOWN_FOLDER}", *runs])


def _block(direction: Direction, name: str) -> str:
    """Return the block size as text, estimated as bandwidth / IOPS and rounded to the nearest power of two.

    If the quotient is unknown or not close to a power of two, return the block size in the name of the test, or `1m`.
    """
    if direction.iops and direction.bandwidth_bytes:
        size = direction.bandwidth_bytes / direction.iops
        power = 2 ** round(math.log2(size)) if size >= _SECTOR else 0
        if power and abs(size / power - 1) <= _NEAR:
            return canonical_size(power).lower()
    named = block_in((name,), TextJobs(""))
    return canonical_size(named).lower() if named else "1m"


def _folder(part: LoadPart) -> str:
    """Return the folder of the job's files, or a placeholder if the folder is unknown or the job uses a device."""
    job = job_of(part)
    path = job.directory or (job.filename or "").rpartition("/")[0]
    is_plain = path.startswith("/") and not path.startswith("/dev") and not _SPECIAL.intersection(path)
    return path if is_plain else _UNKNOWN_FOLDER
