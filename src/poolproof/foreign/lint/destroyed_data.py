"""Find jobs that overwrite block devices, and report the data that they would destroy.

fio refuses only devices that the mount table lists. It writes to swap, to members of arrays and pools, to devices under
LVM or LUKS, and over unmounted file systems. Source: fio 3.33 filesetup.c (setup_files) and lib/mountcheck.c
(device_is_mounted).
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from poolproof.foreign.lint.job_groups import Targets
from poolproof.foreign.lint.model import Diagnostic, FioCall, Severity
from poolproof.foreign.lint.possible_values import PossibleValues, calls_around
from poolproof.foreign.lint.variables import UNKNOWN
from poolproof.load.fio.job import Job, is_disk_path, plain_path
from poolproof.load.fio.load import part_of
from poolproof.load.model import LoadPart

RULE = "destroys-data"
_NO_WRITES = frozenset({"null", "cpuio", "net", "netsplice", "exec", "filestat", "dirstat"})
_OTHER_DEVICES = ("\\\\.\\", "\\\\?\\", "trtype=")  # Windows, SPDK
_VERBS_OF_OTHERS = {"write_iolog": "writes a trace to", "mem": "puts its buffers on"}
_LINES = ("filename", "replay_redirect", "filename_format", "directory", "rw")
_EXPANSION = re.compile(r"\$\{[^{}]*[^\w{}]")  # such as ${disks//sda/}, which no message should quote
_FIX = (
    "to measure a file system, give filename= or directory= a path on it; with --readonly, fio refuses to write; "
    "to see what is on the device: lsblk -f, or poolproof lint --on HOST"
)

_FIX_OF_OPENDIR = "let fio create its own files with directory= and nrfiles=; with --readonly, fio refuses to write"


def destroyed_data(source: str, text: str, unit: FioCall, targets: Targets | None) -> Iterator[Diagnostic]:
    """Yield an error for each job that would overwrite data, and a warning if lint cannot tell whether it would.

    `text`: the script or job file. It supplies the values of variables.
    `targets`: looks up devices. Without it, nothing is known about them.
    """
    if unit.read_only:
        return
    if targets is not None and unit.runs_in == "machine":
        targets = targets.seen_from(unit.runs_in)
    found: dict[Diagnostic, None] = {}
    for arguments in calls_around(text, unit.line) or ((),):
        values = PossibleValues(text, arguments)
        found.update(dict.fromkeys(each for job in unit.jobs for each in _of_job(source, unit, job, values, targets)))
    yield from found


def _of_job(
    source: str, unit: FioCall, job: Job, values: PossibleValues, targets: Targets | None
) -> Iterator[Diagnostic]:
    lines = (job.lines[name] for name in _LINES if name in job.lines)
    line = next(lines, None) or job.line or unit.line
    for option, file in job.side_files.items():
        for path in map(plain_path, values.of_path(file)):
            if judged := _judged(path, _VERBS_OF_OTHERS[option], " and destroys", targets, values):
                yield Diagnostic(source, job.lines.get(option, line), RULE, *judged, _FIX)
    if job.text("read_iolog"):  # fio then takes the I/O and the files from the trace (iolog.c, init_iolog_read)
        for path in values.of_path(job.text("replay_redirect") or ""):
            if judged := _judged(path, "replays a trace on", ", and the writes in the trace destroy", targets, values):
                yield Diagnostic(source, line, RULE, "warning", judged[1], _FIX)
        return
    part = _writing_part(job, values)
    if part is None:
        return
    verb = "writes to" if part.writes else "trims"
    if folder := job.text("opendir"):  # fio adds only regular files (filesetup.c, recurse_dir)
        message = f"the job {verb} every file below {folder} (opendir) and destroys the data in these files"
        yield Diagnostic(source, job.lines.get("opendir", line), RULE, "warning", message, _FIX_OF_OPENDIR)
        return
    for path, shown in _paths(job, values):
        judged = _judged(path, verb, " and destroys", targets, values, shown)
        if judged is not None:
            yield Diagnostic(source, line, RULE, *judged, _FIX)


def _writing_part(job: Job, values: PossibleValues) -> LoadPart | None:
    """Return the load of a job that writes or trims, or None if the job does neither or its direction is unknown."""
    if job.engine in _NO_WRITES or job.flag("verify_only") or job.flag("create_only"):
        return None
    for pattern in values.of(job.text("rw") or "read"):
        part = part_of(replace(job, options={**job.options, "rw": pattern}))
        if not UNKNOWN.search(pattern) and (part.writes or part.trims):
            return part
    return None


def _paths(job: Job, values: PossibleValues) -> Iterator[tuple[str, str]]:
    """Yield the paths that the job names, without file names that fio generates on its own.

    Each path is yielded together with its name in messages, in which an unknown variable has its name in the job.
    """
    directory = job.directory or ""
    names = job.filenames
    if job.filename is None and (form := job.text("filename_format")):
        for keyword, value in (("$jobname", job.name), ("$jobnum", "0"), ("$filenum", "0")):
            form = form.replace(keyword, value)
        names = (form,)
    elif job.filename is None and directory.startswith("/dev") and "directory" not in job.lines:
        names = (job.name,)  # after `cd /dev`, a job with the name of a device uses the device
    for given in (job.path(name) for name in names if not name.endswith("/")):  # fio does not open a directory
        paths = [*map(plain_path, values.of_path(given))]
        if values.is_device(given) and not any(path.startswith("/dev/") for path in paths):
            paths = [given]
        for path in paths:
            linked = values.links(path)
            yield from ((each, each) for each in linked)
            if not linked:
                is_clearer = UNKNOWN.search(path) and given.startswith("/dev/")
                yield (given if _EXPANSION.search(path) else path), (given if is_clearer else path)


def _judged(
    path: str, verb: str, loss: str, targets: Targets | None, values: PossibleValues, shown: str = ""
) -> tuple[Severity, str] | None:
    """Return the severity and message for a path to which a job writes, or None if no device would lose data.

    `shown`: the path as the message shows it, if that differs from `path`.
    """
    if path.startswith("/dev/") and not is_disk_path(path):
        return None
    is_known = UNKNOWN.search(path) is None
    is_other = path.startswith(_OTHER_DEVICES)
    device = targets.written(path) if targets is not None and is_known and not is_other else None
    if device is not None and device.is_block:
        message = f"the job {verb} {path}{loss} the data there: the device {device.found}"
        return ("error", message) if device.found else None
    may_be_disk = is_disk_path(path) or (not is_known and values.is_device(path))
    if not (is_other or may_be_disk) or (device is not None and device.exists):
        return None
    why = f"lint cannot check, because {device.host} has no such device" if device else "lint cannot tell what is on it"
    would = loss.replace("destroys", "destroy").replace("destroy", "would destroy")
    return "warning", f"the job {verb} the device {shown or path}{would} any data on it; {why}"
