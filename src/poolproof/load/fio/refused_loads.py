"""Reject loads that fio cannot run as written, or whose results could not be judged.

These checks concern several options or jobs at once; `permitted.py` checks each option by itself.
"""

from poolproof.campaign.model import Workload
from poolproof.errors import CampaignError
from poolproof.hosts.base import Host, display_name
from poolproof.load.fio.installed import fio_version, kernel_release
from poolproof.load.fio.job import Jobs, delay_ms
from poolproof.load.fio.load import (
    HINT_FIXED_IN,
    HINT_REMOVED_IN,
    SPIN_FIXED_IN,
    groups_in_ratio,
    hints_direct_writes,
    load_of,
    part_of,
    spins,
    stays_in_first_file,
)


def check_together(jobs: Jobs, workload: Workload) -> None:
    """Raise a CampaignError if the results of the jobs could not be judged, because of how the jobs run together."""
    if len(load_of(jobs).phases) > 1 and any(part_of(job).ramp_s for job in jobs):
        raise refusal(
            workload,
            "stonewall",
            "`stonewall` and `ramp_time` can't be combined: disk counters can leave out only the first ramp",
            "remove one of the two, or split the workload in two",
        )
    if any("stats" in job.options and not job.flag("stats") for job in jobs):
        raise refusal(
            workload,
            "stats",
            "`stats=0` leaves a job out of fio's results, but not out of the disks' counters, so these could no longer "
            "show where the I/O of the other jobs went",
            "remove `stats`",
        )
    if load_of(jobs).clones > 1 and any(delay_ms(job.options) is None for job in jobs):
        raise refusal(
            workload,
            "startdelay",
            "`startdelay` is a range, and fio does not report which delays it chose: the rates of several jobs can be "
            "added up only if it is known when each of them ran",
            "write a single time, such as startdelay=1s",
        )
    if any(job.number("zonesize") and (job.text("zonemode") or "none").strip() == "none" for job in jobs):
        raise refusal(
            workload,
            "zonesize",
            "fio rejects `zonesize` without `zonemode`",
            "set zonemode=strided (move zonesize bytes, then skip zoneskip bytes), or zbd for zoned devices",
        )
    if any(map(stays_in_first_file, load_of(jobs).parts)):
        raise refusal(
            workload,
            "file_service_type",
            "with `file_service_type=sequential`, fio moves on to the next file after it has used each block once, but "
            "this random job may use blocks again, so it would never leave its first file",
            "set file_service_type=roundrobin, or time_based=0 without norandommap and random_distribution",
        )
    phases = load_of(jobs).phases
    for group in groups_in_ratio(load_of(jobs)):
        if len({number for number, phase in enumerate(phases) for part in group if part in phase}) > 1:
            raise refusal(
                workload,
                "flow",
                f"`flow` makes job {group[0].name} wait for I/Os of a job that starts only after an earlier job has "
                "ended, so the earlier job would do a few I/Os and then wait until its runtime is over",
                "remove `flow`, or let the jobs run at the same time (without stonewall and wait_for)",
            )


def refusal(workload: Workload, option: str, message: str, hint: str) -> CampaignError:
    """Return the error for an option of a workload."""
    return CampaignError(f"workload {workload.name}: {message}", hint).concerning(option)


def check_spin(jobs: Jobs, workload: Workload, host: Host) -> None:
    """Raise a CampaignError if the host's fio may never end because of `thinktime_spin`."""
    version = fio_version(host)
    if any(map(spins, load_of(jobs).parts)) and (version.major, version.minor) < SPIN_FIXED_IN:
        raise refusal(
            workload,
            "thinktime_spin",
            f"{version} on {display_name(host)} may never end with `thinktime_spin`: if another program gets the CPU "
            "while fio spins, it computes a negative time and sleeps until it is killed (before 3.34), or until the "
            "end of its runtime",
            "use fio 3.36 or later, or remove `thinktime_spin`; fio then sleeps for all of `thinktime`",
        )


def check_hint(jobs: Jobs, workload: Workload, host: Host) -> None:
    """Raise a CampaignError if the host's fio cannot set `write_hint` on the host's kernel."""
    version = fio_version(host)
    if not any(map(hints_direct_writes, load_of(jobs).parts)) or (version.major, version.minor) >= HINT_FIXED_IN:
        return
    if (kernel := kernel_release(host)) is not None and kernel >= HINT_REMOVED_IN:
        raise refusal(
            workload,
            "write_hint",
            f"{version} on {display_name(host)} cannot set `write_hint` with direct=1: it uses F_SET_FILE_RW_HINT, "
            f"which was removed in Linux 5.18, and the host runs Linux {kernel[0]}.{kernel[1]}",
            "use fio 3.37 or later, or remove `write_hint`",
        )
