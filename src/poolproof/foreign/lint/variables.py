"""Options that contain unexpanded variables, whose values lint reports as unknown and does not guess.

lint tries several values for each option with an unexpanded variable, and reports a finding only if it occurs with
every value. If an entire argument is unknown, lint also tries additional options.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace

from poolproof.load.fio.job import Job, Jobs
from poolproof.load.fio.option_names import ENGINE_OPTIONS, OTHER_RELEASES
from poolproof.load.fio.option_values import is_external

UNKNOWN = re.compile(
    r"\$\{[^}]*\}?|\$\([^)]*\)?|\$[A-Za-z_]\w*|\$[@*#?0-9]|`[^`]*`?"
    r"|\{\{[^{}]*\}\}|\{[A-Za-z_]\w*(?:\.\w+|\[[^\[\]{}]*\]|\([^(){}]*\))*(?:![rsa])?(?::[^{},]*)?\}|%l{0,2}[dsu](?!\w*%)"
    r"|<[A-Za-z][\w-]*(?: [\w-]+){0,5}>|%%~?\w|%[A-Za-z_]\w*%|(?<!\w)%~?\d|\{[#%./\d]*\}"
    r"|(?<![\w@.])@[A-Za-z_]\w*@(?!\w)|[{<\[][\w-]+(?:\|[\w-]+)+[}>\]]"
)
"""Matches an unexpanded variable or command substitution in a script or job file.

It also matches `{{ device }}` (Jinja), `{path}` and `%s` (strings of programs),
`%SIZE%`, `%%b` and `%1` (cmd.exe), `{}` (xargs and parallel), `@size@` (sed and autoconf), `<device>`, and
`{read|write}` in a description of the usage.
"""

_NEVER_CHECKED = frozenset(
    {
        "filename_format", "exec_prerun", "exec_postrun", "description", "name", "write_bw_log", "write_lat_log",
        "write_iops_log", "write_hist_log", "cpus_allowed", "numa_cpu_nodes", "numa_mem_policy", "nice",
        "prio", "prioclass", "cgroup", "hostname", "port", "clientname", "rbdname", "pool", "clustername", "volume",
        "brick", "namenode", "nfs_url", "http_host", "http_user", "http_pass", "http_s3_key", "http_s3_keyid",
        "http_s3_region", "http_s3_storage_class", "uri", "log_avg_msec",
    }
)  # fmt: skip
_VALUES: Mapping[str, tuple[str, ...]] = {
    "rw": ("read", "write", "randread", "randwrite", "randrw"),
    "ioengine": ("psync", "libaio", "io_uring"),
    "bs": ("4k", "512", "16k", "1m"),
    **dict.fromkeys(("size", "io_size", "filesize"), ("1g", "22m", "100t")),
    "runtime": ("30", "1", "100000"),
    "ramp_time": ("0", "30"),
    "iodepth": ("32", "2"),  # a script that has a variable for the depth hardly ever sets it to 1
    "numjobs": ("1", "8"),
    "sync": ("0", "1", "dsync"),
    **dict.fromkeys(("fsync", "fdatasync"), ("0", "1", "10000")),
    "verify": ("0", "crc32c"),
    "filename": ("unknown", "/dev/sdz"),
    "directory": ("unknown",),
    "offset_increment": ("1t", "0"),
    **dict.fromkeys(
        (
            "direct", "buffered", "time_based", "end_fsync", "fsync_on_close", "group_reporting", "refill_buffers",
            "zero_buffers", "invalidate", "randrepeat", "norandommap", "gtod_reduce", "thread", "stonewall", "pre_read",
        ),
        ("0", "1"),
    ),
}  # fmt: skip
_IN_FOLDER = re.compile(
    r"\A(?!/dev/)(?:\$\{?\w{1,60}+\}?/[\w./-]{0,200}[A-Za-z]|[^$:\n]{0,200}+\$\{?\w{1,60}+\}?\.[A-Za-z])"
)
"""Matches a path with variables that is probably not a device: `$DIR/file` or `$FILE.bin`."""

_PATHS = frozenset({"filename", "directory"})
_OF_ENGINES = ENGINE_OPTIONS | {
    name for name in OTHER_RELEASES if name.startswith(("fdp", "http_", "libblkio_", "nfs_", "xnvme_"))
}
"""Options that fio refuses unless the engine has them, so without `ioengine`, the command line sets the engine."""

_ENGINE_OF_COMMANDS = "io_uring_cmd"  # an engine with its own options, which no cache serves
_NUMBERS = ("0", "1", "1g")
"""The values to try for options that `_VALUES` does not list."""

_POSSIBLE_OPTIONS: tuple[Mapping[str, str], ...] = (
    {"direct": "1", "ioengine": "io_uring", "iodepth": "1", "time_based": "1", "refill_buffers": "1"},
    {"end_fsync": "1", "randrepeat": "0", "ramp_time": "60", "invalidate": "1", "numjobs": "1"},
    {"fdatasync": "1", "bs": "128k", "size": "100t", "runtime": "100000"},
    {"rw": "trim", "group_reporting": "0", "gtod_reduce": "0", "offset_increment": "1t", "kb_base": "1000"},
)
"""Combinations of options, each of which is tried in place of an unknown argument."""


def unknown_in(job: Job) -> Mapping[str, str]:
    """Return the first unexpanded variable in each of the job's option values, keyed by option name."""
    found = (
        (name, UNKNOWN.search(value))
        for name, value in job.options.items()
        if name not in _NEVER_CHECKED and not (name == "ioengine" and is_external(value))
    )
    return {name: match[0] for name, match in found if match is not None}


def possible_jobs(jobs: Jobs, *, has_unknown_words: bool) -> Iterator[Jobs]:
    """Yield variants of the jobs, with different values for the options that contain unexpanded variables.

    Only one option is varied at a time. If all variables and arguments are known, the jobs are yielded once, unchanged.
    """
    names = sorted({name for job in jobs for name in _not_known(job)})
    first = {name: _VALUES.get(name, _NUMBERS)[0] for name in names}
    yield _filled(jobs, first, {})
    for name in names:
        are_files = name == "filename" and all(_IN_FOLDER.match(job.options.get(name, "")) for job in jobs)
        for value in _VALUES.get(name, _NUMBERS)[1:] if not are_files else ():
            yield _filled(jobs, {**first, name: value}, {})
    if any(map(_lacks_engine, jobs)):
        yield _filled(jobs, {**first, "ioengine": _ENGINE_OF_COMMANDS}, {})
    if has_unknown_words:
        yield from (_filled(jobs, first, more) for more in _POSSIBLE_OPTIONS)


def _not_known(job: Job) -> frozenset[str]:
    """Return the options whose value is unknown, including the engine if only the command line can set it."""
    return frozenset(unknown_in(job)) | ({"ioengine"} if _lacks_engine(job) else frozenset())


def _lacks_engine(job: Job) -> bool:
    return "ioengine" not in job.options and not _OF_ENGINES.isdisjoint(job.options)


def _filled(jobs: Jobs, values: Mapping[str, str], more: Mapping[str, str]) -> Jobs:
    filled = []
    for job in jobs:
        unknown = _not_known(job)
        options = {**job.options, **{name: values[name] for name in unknown}}
        for name in unknown & _PATHS:
            options[name] += _suffix(job.options[name])
        filled.append(replace(job, options={**options, **more}) if unknown or more else job)
    return tuple(filled)


def renamed_paths(jobs: Jobs, filled: Jobs) -> Mapping[str, str]:
    """Return the paths that `possible_jobs` put into `filled`, keyed by the unknown paths of `jobs`."""
    return {
        job.options[name]: other.options[name]
        for job, other in zip(jobs, filled, strict=True)
        for name in unknown_in(job).keys() & _PATHS
    }


def with_paths(jobs: Jobs, renamed: Mapping[str, str]) -> Jobs:
    """Return the jobs with other paths. `renamed`: the new paths, keyed by the old ones."""
    return tuple(
        replace(job, options={n: renamed.get(v, v) if n in _PATHS else v for n, v in job.options.items()})
        for job in jobs
    )


def _suffix(path: str) -> str:
    """Return a suffix that makes the paths in different variables differ, for files and for devices (`/dev/sdza`)."""
    number, letters = zlib.crc32(path.encode()), ""
    while number:
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
    return letters
