"""The minimum length of trials that run until their value is precise: three write-back cycles.

Workloads without buffered writes have no minimum. The cycles are estimated from the campaign alone. When a trial
starts, `measure/ending.py` replaces the estimates with the cycles of the host. A cycle is certain only if the layout
sets it, for example with the `commit` option of btrfs. Otherwise, it depends on the host's settings, and heavy writes
can start write-back earlier. The page cache matters only for writes that are neither direct nor synchronous.
"""

import math
import re
from collections.abc import Iterator, Mapping

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.error_location import located_at
from poolproof.campaign.model import Campaign, Workload
from poolproof.errors import CampaignError
from poolproof.layers.base import Node
from poolproof.layers.resolve import resolve
from poolproof.layers.tree import layer_nodes, uses_page_cache
from poolproof.stopping.model import StoppingRule
from poolproof.units import format_duration

_PAGE_CACHE_S = 35.0
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"(\d{1,9})(|s|ms|us|m|h|d)")
_RUNTIME = ("runtime", "timeout")
_PHASES = ("stonewall", "wait_for_previous")
_WRITES = re.compile(r"(rand)?(write|rw|readwrite|trimwrite)")
_SYNCS = ("sync", "fsync", "fdatasync")


def least_trials_s(campaign: Campaign) -> Mapping[CellKey, float]:
    """Return the minimum trial length in seconds, keyed by cell. Empty if trials have a fixed length.

    The minimum is 0 if the workload writes nothing, or if nothing buffers its writes.
    """
    if campaign.measure.until is None:
        return {}
    cells = [(name, node, workload) for name, node in _nodes(campaign) for workload in campaign.workloads]
    return {
        CellKey(name, workload.name): StoppingRule.TURNS * _buffered_s(node, workload) for name, node, workload in cells
    }


def check_budget(campaign: Campaign) -> None:
    """Check that the budget is large enough for the minimum number of trials of every cell, in all builds.

    Raises a CampaignError if the run time of the loads alone would exceed the budget.
    """
    if campaign.budget_s is None or campaign.measure.until is None:
        return
    certain, usual = (list(_trials_s(campaign, only_certain=which)) for which in (True, False))
    trials = campaign.measure.builds * campaign.measure.trials
    total_s = trials * sum(certain)
    if campaign.budget_s >= total_s:
        return
    shortest, longest = min(certain), max(certain)
    each = f"{shortest:g} s" if shortest == longest else f"{shortest:g} to {longest:g} s"
    why = "" if shortest == longest else "; a trial lasts at least three write-back cycles, or as long as its `runtime`"
    with located_at(campaign.budget_origin):
        raise CampaignError(
            f"a budget of {format_duration(campaign.budget_s)} is too small: the loads alone need "
            f"{format_duration(total_s)} for {trials * len(certain)} trials of {each}{why}",
            f"write budget: {math.ceil(trials * max(sum(certain), sum(usual)) * 2)}s, which leaves time for building, "
            "or ask for fewer trials",
        )


def _nodes(campaign: Campaign) -> Iterator[tuple[str, Node]]:
    names = {device.name for device in campaign.devices}
    for layout in campaign.layouts:
        yield layout.name, resolve(layout.expression, names)


def _trials_s(campaign: Campaign, *, only_certain: bool) -> Iterator[float]:
    """Yield the minimum trial length of each cell in seconds, ramp time included."""
    for _, node in _nodes(campaign):
        for workload in campaign.workloads:
            least_s = StoppingRule.TURNS * _buffered_s(node, workload, only_certain=only_certain)
            runtime_s = _runtime_s(workload)
            ramp_s = max(_seconds(dict(job.options).get("ramp_time", "0")) for job in workload.jobs)
            yield ramp_s + (max(campaign.measure.shortest_s, least_s) if runtime_s is None else runtime_s)


def _buffered_s(node: Node, workload: Workload, *, only_certain: bool = False) -> float:
    """Return the maximum time in seconds that written data may stay in RAM.

    The result is 0 if the workload writes nothing, or if nothing buffers its writes.
    `only_certain`: whether to ignore the periods that depend on the host.
    """
    jobs = [dict(job.options) for job in workload.jobs]
    writers = [job for job in jobs if _WRITES.match(job.get("rw", job.get("readwrite", "read")))]
    if not writers:
        return 0.0
    forecasts = [entry.layer.write_back_forecast(entry.spec) for entry in layer_nodes(node)]
    periods = [each.seconds for each in forecasts if each is not None and (each.is_certain or not only_certain)]
    is_buffered = any(job.get("direct") == "0" and all(job.get(name, "0") == "0" for name in _SYNCS) for job in writers)
    if is_buffered and not only_certain and uses_page_cache(node):
        periods.append(_PAGE_CACHE_S)
    return max(periods, default=0.0)


def _runtime_s(workload: Workload) -> float | None:
    """Return the run time in seconds that the workload's options guarantee, without the ramp time.

    Returns 0 if they do not guarantee any run time, and None if poolproof decides when a trial ends.
    """
    jobs = [dict(job.options) for job in workload.jobs]
    timed = [job.get("time_based", "1") != "0" for job in jobs]
    runtimes = [next((job[name] for name in _RUNTIME if name in job), None) for job in jobs]
    phases = any(job.get(name, "0") != "0" for job in jobs[1:] for name in _PHASES)
    if all(timed) and not phases and not any(runtimes):
        return None
    pairs = zip(runtimes, timed, strict=True)
    return max((_seconds(text) for text, is_timed in pairs if text and is_timed), default=0.0)


def _seconds(text: str) -> float:
    """Convert a time in one of fio's common formats to seconds, or return 0 for any other format.

    0 is a safe answer, because a minimum that is too low never makes poolproof reject a sufficient budget.
    """
    match = _TIME.fullmatch(text.strip().lower())
    return float(match[1]) * _SECONDS[match[2]] if match else 0.0
