"""Check that all names in a campaign refer to something that exists, and that the campaign can be measured."""

import math
from collections.abc import Collection, Mapping

from poolproof.campaign.calibration import calibration_of
from poolproof.campaign.claims import Claim, places
from poolproof.campaign.document import Spot
from poolproof.campaign.generator_option import DEFAULT_BIN_WIDTH, DEFAULT_GENERATOR
from poolproof.campaign.layout import check_devices_once
from poolproof.campaign.model import Campaign, Measure, Workload
from poolproof.campaign.names import choices, did_you_mean
from poolproof.campaign.workload import directions_of
from poolproof.metrics import metric_of
from poolproof.stopping.across import least_tolerance
from poolproof.stopping.model import StoppingRule

MOST_CELLS = 100_000
_SYNCS = ("fsync", "fdatasync")
_DIRECTIONS = ("read", "write")
_UNTIMED = ("gtod_reduce",)
_NO_UNTIL = "write measure: {until: 3%, trials: 2..6}, or use --until 3%"


def check_campaign(campaign: Campaign, spots: Mapping[str, Spot]) -> None:
    """Check the whole campaign, except the size of the budget, which `layers/least_trial.py` checks.

    `spots`: the location of each of the campaign's keys, for error messages.

    Raises a CampaignError if `check_references` finds a mistake, if the jobs do not produce the workload's metric, if
    the tolerance is finer than fio's latency bins, if `calibrate` has no disk or no workload to measure, if `budget` is
    used without `until`, or if several workload families share a `budget` without a goal.
    """
    check_references(campaign, spots)
    for workload in campaign.workloads:
        _check_metric(workload, spots["workloads"])
        _check_tolerance(workload, campaign.measure, spots["until"])
    if campaign.budget_s is not None:
        _check_budget(campaign, spots["budget"])
    if campaign.measure.calibrate:
        _check_calibration(campaign, spots["calibrate"])


def check_references(campaign: Campaign, spots: Mapping[str, Spot]) -> None:
    """Check that every name refers to something that exists.

    This is the only check for campaigns recorded in a run. Raises a CampaignError if there are no cells or more than
    MOST_CELLS, if a layout uses a device twice, or if the baseline, the goal or a claim contains an unknown name.
    """
    _check_cells(campaign, spots)
    devices = {device.name for device in campaign.devices}
    for layout in campaign.layouts:
        check_devices_once(layout, devices)
    layouts = [layout.name for layout in campaign.layouts]
    families = [workload.family for workload in campaign.workloads]
    workloads = list(dict.fromkeys([*families, *(workload.name for workload in campaign.workloads)]))
    for key, name, what, known in (
        ("baseline", campaign.baseline, "layout", layouts),
        ("goal", campaign.goal, "workload", workloads),
    ):
        if name is not None and name not in known:
            message = f"{key} `{name[:60]}` is not a {what} of this campaign{did_you_mean(name, known)}"
            raise spots[key].mistake(message, f"write {key}: {known[0]}; {choices(what, known)}")
    for claim in campaign.expect:
        _check_claim(claim, campaign, spots["expect"])


def _check_claim(claim: Claim, campaign: Campaign, spot: Spot) -> None:
    known = {
        "layout": [layout.name for layout in campaign.layouts],
        "workload": [workload.name for workload in campaign.workloads],
        "device": [device.name for device in campaign.devices],
    }
    for layout, workload, device in places(claim.that):
        for what, name in (("layout", layout), ("workload", workload), ("device", device)):
            if name is not None and name not in known[what]:
                guess = did_you_mean(name, known[what])
                hint = choices(what, [*known[what]])
                raise spot.mistake(f"the claim `{claim.text}` names an unknown {what} `{name}`{guess}", hint)


def _check_metric(workload: Workload, spot: Spot) -> None:
    """Check that fio jobs with these options produce the workload's metric.

    Workloads of other load generators are checked in `measure/plan.py`.
    """
    if workload.generators != {DEFAULT_GENERATOR}:
        return
    row = metric_of(workload.metric)
    where = f"the metric of workload {workload.name} is {workload.metric}"
    if row.of == "syncs" and not _has(workload, _SYNCS):
        raise spot.mistake(
            f"{where}, but none of its jobs calls fsync or fdatasync", "add fdatasync: 1, or write metric: p99"
        )
    if row.of in _DIRECTIONS and not any(row.of in directions_of(dict(job.options)) for job in workload.jobs):
        raise spot.mistake(f"{where}, but none of its jobs {row.of}s", "write rw: randrw, or metric: p99")
    if row.is_of_ios and _has(workload, _UNTIMED):
        raise spot.mistake(f"{where}, but fio does not measure I/O latencies", f"remove {' and '.join(_UNTIMED)}")


def _check_tolerance(workload: Workload, measure: Measure, spot: Spot) -> None:
    """Check that fio's latency bins are narrow enough for the tolerance set by `until`.

    Workloads of other load generators are checked in `measure/plan.py`.
    """
    if workload.generators == {DEFAULT_GENERATOR} and (mistake := bin_mistake(workload, measure, DEFAULT_BIN_WIDTH)):
        raise spot.mistake(*mistake)


def bin_mistake(workload: Workload, measure: Measure, bin_width: float) -> tuple[str, str] | None:
    """Return a message and a hint if the latency bins are too wide for the tolerance set by `until`, otherwise None.

    `bin_width`: the width of the load generator's latency bins, as a fraction of the latency.
    """
    if measure.until is None or metric_of(workload.metric).is_rate:
        return None
    rule = StoppingRule(confidence=measure.until.confidence, trials_min=measure.trials, trials_max=measure.trials_max)
    least = least_tolerance(rule, bin_width)
    if measure.until.tolerance >= least:
        return None
    return (
        f"the metric of workload {workload.name} is {workload.metric}, and `until` asks for "
        f"±{100 * measure.until.tolerance:g}%; {', '.join(workload.generators)} counts latencies in bins, so the best "
        f"possible precision is ±{100 * least:.2g}%",
        f"write until: {math.ceil(1000 * least) / 10:g}%, or metric: iops",
    )


def _has(workload: Workload, names: Collection[str]) -> bool:
    return any(name in names and value not in ("0", "") for job in workload.jobs for name, value in job.options)


def _check_budget(campaign: Campaign, spot: Spot) -> None:
    if campaign.measure.until is None:
        message = "`budget` needs `until`: only trials that end when their result is precise can share a budget"
        raise spot.mistake(message, _NO_UNTIL)
    if campaign.goal is None and len({workload.family for workload in campaign.workloads}) > 1:
        message = "`budget` needs a goal: the remaining time is spent on the workloads of the goal"
        raise spot.mistake(message, "write goal: NAME, or use --goal NAME")


def _check_calibration(campaign: Campaign, spot: Spot) -> None:
    calibration = calibration_of(campaign)
    if not calibration.layouts:
        raise spot.mistake(
            "`calibrate` measures each disk alone, but no layout has a device to measure: the disks under a `dir` "
            "layout contain data",
            "remove `calibrate`, or write devices: {a: {file: 16G}}",
        )
    if not calibration.workloads:
        workload, why = next(iter(calibration.left_out.items()))
        message = f"`calibrate`: no workload can run on a bare disk; for example, workload {workload} {why}"
        raise spot.mistake(message, "remove `calibrate`")


def _check_cells(campaign: Campaign, spots: Mapping[str, Spot]) -> None:
    if not campaign.layouts:
        raise spots["layouts"].mistake("no cells: the campaign has no layouts", "add layouts: {one: 'btrfs raid1 a b'}")
    if not campaign.workloads:
        raise spots["workloads"].mistake("no cells: the campaign has no workloads", "add workloads: {etcd: etcd}")
    cells = len(campaign.layouts) * len(campaign.workloads)
    if cells > MOST_CELLS:
        raise spots["layouts"].mistake(
            f"the campaign has {cells} cells, more than {MOST_CELLS}", "split it into several campaigns"
        )
