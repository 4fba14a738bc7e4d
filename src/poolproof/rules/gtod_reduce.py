"""Runs that do not measure latency."""

from collections.abc import Sequence

from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Findings, Rule, fio_doc, fio_source, notes
from poolproof.units import format_list

_OPTIONS = ("gtod_reduce", "disable_clat", "clat_percentiles")


def _in_job(case: Case) -> Findings:
    if jobs := [job for job in case.jobs if not job.measures_latency]:
        yield notes(
            f"{case.who(jobs)} does not measure latency ({_why(jobs[0])}): this does not affect the IOPS and "
            "bandwidth, but the percentiles are missing",
            weight=30,
            fix=_fix(jobs),
        )


def _fix(jobs: Sequence[LoadPart]) -> str:
    """Return the suggested fix, which names only options that a job sets."""
    names = [name for name in _OPTIONS if any(name in fio_job(job).options for job in jobs)]
    return f"remove {format_list(names)}" if names else ""


def _why(job: LoadPart) -> str:
    if fio_job(job).flag("gtod_reduce"):
        return "gtod_reduce"
    return f"{'disable_clat' if fio_job(job).flag('disable_clat') else 'clat_percentiles=0'} without lat_percentiles"


RULE = Rule(
    title="Latency is not measured",
    wrong=(
        "gtod_reduce=1 and disable_clat=1 make fio read the clock less often, which slightly raises the IOPS of very "
        "fast devices. However, the result then has no percentiles, and percentiles from another run must not be "
        "combined with it. (With disable_clat alone, fio still reports the mean of `lat`, and also its percentiles if "
        "lat_percentiles=1 is set.)"
    ),
    shows="In a job: gtod_reduce, or disable_clat or clat_percentiles=0 without lat_percentiles.",
    error=(
        "The latency is missing. With a null device, the IOPS are up to 2.3 times as high; on real disks, they are "
        "hardly higher."
    ),
    fix="remove gtod_reduce, disable_clat and clat_percentiles",
    sources=(
        fio_source("3.42", "options.c", "str_gtod_reduce_cb (disables lat, clat, slat, bw and all percentiles)"),
        fio_source("3.42", "io_u.c", "account_io_completion"),
        fio_doc("gtod_reduce"),
    ),
    in_job=_in_job,
    options=_OPTIONS,
    fixed_options=dict.fromkeys(_OPTIONS),
    cleared_by_byte_count=False,
    commands="for g in 0 1; do fio --rw=randread --ioengine=null --size=100g --gtod_reduce=$g --runtime=3; done",
)
