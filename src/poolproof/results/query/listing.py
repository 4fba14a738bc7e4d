"""List each run with its campaign and its progress, for `poolproof runs`."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from poolproof.campaign.calibration import all_cells
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import PoolproofError
from poolproof.results.query.found import FoundRun
from poolproof.results.query.session import Session
from poolproof.results.runs.directory import RunDirectory
from poolproof.verdicts import WORST_FIRST, Verdict

State = Literal["going", "stopped", "finished", "imported"]

_CELLS = """
select run, verdict, count(*)::INTEGER, sum(trials)::INTEGER, min(trials)::INTEGER from cells group by run, verdict
"""


@dataclass(frozen=True)
class ListedRun:
    """A run in the list. `cells`: the number with a trial. `cells_wanted`: those in its campaign; None if unreadable.

    `state`: `going` while a poolproof process holds its lock; `stopped` if none does and trials are missing.
    """

    run: FoundRun
    campaign: str
    state: State
    trials: int
    cells: int
    cells_wanted: int | None
    verdicts: Mapping[Verdict, int] = field(default_factory=dict)


def listed_runs(session: Session) -> tuple[ListedRun, ...]:
    """Return every run that could be read, oldest first."""
    found: dict[str, list[tuple[Verdict, int, int, int]]] = {}
    for run, *rest in session.ask(_CELLS).rows:
        found.setdefault(run, []).append((rest[0], rest[1], rest[2], rest[3]))
    runs = sorted(session.runs, key=lambda run: (run.record.begun_at, run.name))
    return tuple(_listed(run, found.get(run.name, [])) for run in runs)


def _listed(run: FoundRun, found: list[tuple[Verdict, int, int, int]]) -> ListedRun:
    cells = sum(count for _, count, _, _ in found)
    wanted = _wanted(run.record.campaign)
    counts = {verdict: count for verdict, count, _, _ in found}
    whole = wanted is not None and cells >= wanted[0] and all(least >= wanted[1] for *_, least in found)
    return ListedRun(
        run=run,
        campaign=run.campaign,
        state=_state(run, whole=whole),
        trials=sum(trials for _, _, trials, _ in found),
        cells=cells,
        cells_wanted=None if wanted is None else cells if run.record.imported else wanted[0],
        verdicts={verdict: counts[verdict] for verdict in reversed(WORST_FIRST) if verdict in counts},
    )


def _state(run: FoundRun, *, whole: bool) -> State:
    if run.record.imported:
        return "imported"
    if RunDirectory(run.path).is_going():
        return "going"
    return "finished" if whole else "stopped"


@functools.lru_cache(maxsize=256)
def _wanted(campaign: str) -> tuple[int, int] | None:
    """Return the number of cells in a campaign and the minimum number of trials of each; None if unreadable."""
    try:
        read = parse_campaign(campaign, "run.json", recorded=True)
    except PoolproofError:
        return None
    return sum(len(workloads) for _, workloads in all_cells(read)), read.measure.trials
