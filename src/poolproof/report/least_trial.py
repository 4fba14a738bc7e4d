"""How long a trial lasts at least where it goes on until its figure is known: three turns of what a layout holds back.

What the host says of its write-back is asked when a trial begins (`measure/turnover.py`); this is what is usual, for a
forecast: the commit of btrfs, the groups of ZFS, the page cache for writes that are neither direct nor synced.
"""

from collections.abc import Mapping

from poolproof.campaign.expression import Expression, Group, Option, Word
from poolproof.campaign.model import Campaign, JobSpec, Layout, Workload
from poolproof.stopping.model import Rule

_TURNS_S = {"btrfs": 30.0, "zfs": 5.0}
_PAGE_CACHE_S = 35.0
_WRITES = ("write", "rw", "trimwrite")
_SYNCS = ("sync", "fsync", "fdatasync")


def least_trials_s(campaign: Campaign) -> Mapping[tuple[str, str], float]:
    """Seconds by layout and workload; 0 where nothing is written, or trials have a fixed time."""
    turns = {layout.name: _turn_s(layout.expression) for layout in campaign.layouts}
    return {
        (layout.name, workload.name): Rule.TURNS * _held_s(layout, workload, turns[layout.name])
        for layout in campaign.layouts
        for workload in campaign.workloads
        if campaign.measure.until is not None
    }


def _held_s(layout: Layout, workload: Workload, turn_s: float) -> float:
    writers = [dict(job.options) for job in workload.jobs if _writes(job)]
    if not writers:
        return 0.0
    stays = any(job.get("direct") == "0" and not any(job.get(name, "0") != "0" for name in _SYNCS) for job in writers)
    on_zfs = layout.expression.stages[0].arguments[0] == Word("zfs")
    return max(turn_s, _PAGE_CACHE_S if stays and not on_zfs else 0.0)


def _writes(job: JobSpec) -> bool:
    options = dict(job.options)
    mode = options.get("rw", options.get("readwrite", "read")).removeprefix("rand")
    return mode.startswith(_WRITES)


def _turn_s(expression: Expression) -> float:
    """The longest turn of any layer, groups among them."""
    longest = 0.0
    for stage in expression.stages:
        first = stage.arguments[0]
        usual = _TURNS_S.get(first.text, 0.0) if isinstance(first, Word) else 0.0
        said = [each.value for each in stage.arguments if isinstance(each, Option) and each.key == "commit"]
        if usual and said and said[-1].isdecimal():
            usual = float(said[-1])
        inside = [_turn_s(each.expression) for each in stage.arguments if isinstance(each, Group)]
        longest = max(longest, usual, *inside)
    return longest
