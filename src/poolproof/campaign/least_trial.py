"""How long a trial lasts at least where it goes on until its figure is known: three turns of what a layout holds back.

What the host says of its write-back is asked when a trial begins (`measure/ending.py`); this is what is usual, for a
forecast: the commit of btrfs, the groups of ZFS, the page cache for writes that are neither direct nor synced. The
commit of btrfs is certain, for it is a mount option. The others are settings of the host, and their turns are over
sooner where much is written.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from poolproof.campaign.expression import Expression, Group, Option, Word
from poolproof.campaign.model import Campaign, JobSpec, Layout, Workload
from poolproof.stopping.model import StoppingRule

_CERTAIN_S = {"btrfs": 30.0}
_TURNS_S = {**_CERTAIN_S, "zfs": 5.0}
_PAGE_CACHE_S = 35.0
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = re.compile(r"(\d{1,9})(|s|ms|us|m|h|d)")
_RUNTIME = ("runtime", "timeout")
_PHASES = ("stonewall", "wait_for_previous")
_WRITES = ("write", "rw", "readwrite", "trimwrite")
_SYNCS = ("sync", "fsync", "fdatasync")


def least_trials_s(campaign: Campaign) -> Mapping[tuple[str, str], float]:
    """Seconds by layout and workload; 0 where nothing is written, or trials have a fixed time."""
    turns = {layout.name: _turn_s(layout.expression) for layout in campaign.layouts}
    return {
        (layout.name, workload.name): StoppingRule.TURNS * _held_s(layout, workload, turns[layout.name])
        for layout in campaign.layouts
        for workload in campaign.workloads
        if campaign.measure.until is not None
    }


@dataclass(frozen=True)
class LeastTime:
    """What the least number of trials of every cell takes fio alone.

    `shortest_s` and `longest_s` are of one trial. `usual_s` is with what hosts usually hold back.
    """

    trials: int
    shortest_s: float
    longest_s: float
    total_s: float
    usual_s: float


def least_time(campaign: Campaign) -> LeastTime:
    """Of a campaign that has cells and whose trials go on until their figures are known: that they can't be shorter."""
    certain, usual = list(_trials_s(campaign, _CERTAIN_S, 0.0)), list(_trials_s(campaign, _TURNS_S, _PAGE_CACHE_S))
    trials = campaign.measure.trials
    return LeastTime(
        trials * len(certain), min(certain), max(certain), trials * sum(certain), trials * max(sum(certain), sum(usual))
    )


def _trials_s(campaign: Campaign, turns_s: Mapping[str, float], page_cache_s: float) -> Iterator[float]:
    """Seconds of one trial of each cell, where the layers hold back what is written for so long."""
    for layout in campaign.layouts:
        turn_s = _turn_s(layout.expression, turns_s)
        for workload in campaign.workloads:
            held_s = StoppingRule.TURNS * _held_s(layout, workload, turn_s, page_cache_s)
            own_s = _own_s(workload)
            yield max(campaign.measure.shortest_s, held_s) + _ramp_s(workload) if own_s is None else own_s


def _own_s(workload: Workload) -> float | None:
    """How long a workload runs at least that says itself when it ends; None of one that poolproof ends."""
    jobs = [dict(job.options) for job in workload.jobs]
    timed = [job.get("time_based", "1") != "0" for job in jobs]
    said = [next((job[name] for name in _RUNTIME if name in job), None) for job in jobs]
    phases = any(job.get(name, "0") != "0" for job in jobs[1:] for name in _PHASES)
    if all(timed) and not phases and not any(said):
        return None
    runs = [_seconds(text) for text, is_timed in zip(said, timed, strict=True) if text and is_timed]
    return max(runs, default=0.0) + _ramp_s(workload)


def _ramp_s(workload: Workload) -> float:
    return max(_seconds(dict(job.options).get("ramp_time", "0")) for job in workload.jobs)


def _seconds(text: str) -> float:
    """Of fio's times those that anybody writes; 0 of others, so that no more is asked for than is sure."""
    match = _TIME.fullmatch(text.strip().lower())
    return float(match[1]) * _SECONDS[match[2]] if match else 0.0


def _held_s(layout: Layout, workload: Workload, turn_s: float, page_cache_s: float = _PAGE_CACHE_S) -> float:
    writers = [dict(job.options) for job in workload.jobs if _writes(job)]
    if not writers:
        return 0.0
    stays = any(job.get("direct") == "0" and not any(job.get(name, "0") != "0" for name in _SYNCS) for job in writers)
    heads = [stage.arguments[0] for stage in layout.expression.stages]
    on_dataset = heads[0] == Word("zfs") and Word("zvol") not in heads
    return max(turn_s, page_cache_s if stays and not on_dataset else 0.0)


def _writes(job: JobSpec) -> bool:
    options = dict(job.options)
    mode = options.get("rw", options.get("readwrite", "read")).removeprefix("rand")
    return mode.startswith(_WRITES)


def _turn_s(expression: Expression, turns_s: Mapping[str, float] = _TURNS_S) -> float:
    """The longest turn of any layer, groups among them."""
    longest = 0.0
    for stage in expression.stages:
        first = stage.arguments[0]
        usual = turns_s.get(first.text, 0.0) if isinstance(first, Word) else 0.0
        said = [each.value for each in stage.arguments if isinstance(each, Option) and each.key == "commit"]
        if usual and said and said[-1].isdecimal():
            usual = float(said[-1])
        inside = [_turn_s(each.expression, turns_s) for each in stage.arguments if isinstance(each, Group)]
        longest = max(longest, usual, *inside)
    return longest
