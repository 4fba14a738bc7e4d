"""Runs that do not measure latency."""

from poolproof.rules.model import Case, Findings, Rule, fio_doc, notes


def _in_job(case: Case) -> Findings:
    if jobs := [job for job in case.jobs if not job.measures_latency]:
        yield notes(
            f"{case.who(jobs)} does not measure completion latency (gtod_reduce or disable_clat): its IOPS and "
            "bandwidth are valid, but its latency is unknown",
            weight=30,
        )


RULE = Rule(
    title="Latency is not measured",
    wrong="gtod_reduce=1 and disable_clat=1 make fio read the clock less often. On a very fast device, this raises "
    "IOPS a little, but there are no percentiles, and percentiles from another run must not be combined with this one.",
    shows="In a job: gtod_reduce or disable_clat.",
    error="Latency is missing. IOPS are up to 2.3 times as high on a null device, but hardly higher on real disks.",
    fix="remove gtod_reduce and disable_clat",
    sources=(fio_doc("gtod_reduce"),),
    in_job=_in_job,
    options=("gtod_reduce", "disable_clat"),
    fixed_options={"gtod_reduce": None, "disable_clat": None},
    cleared_by_byte_count=False,
    commands="for g in 0 1; do fio --rw=randread --ioengine=null --size=100g --gtod_reduce=$g --runtime=3; done",
)
