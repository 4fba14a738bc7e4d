"""Which cells are known to within the tolerance that their campaign asked for, of all runs: no SQL can tell.

Reading it takes every trial of such runs once more, so a session does it only for a query that uses the answer.
"""

from collections.abc import Iterator
from pathlib import Path

from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import PoolproofError
from poolproof.results.query.found import FoundRun
from poolproof.results.runs.files import whole_lines
from poolproof.results.runs.loading import read_lines
from poolproof.results.runs.summary import bare_cells_of, cells_of

SettledRow = tuple[str, str, str, bool]
"""Run, layout, workload, whether it settled."""

_ASKED = "until"


def may_settle(run: FoundRun) -> bool:
    """Whether its campaign may ask for a tolerance; by its text, for reading it takes milliseconds."""
    return _ASKED in run.record.campaign


def settled_rows(run: FoundRun, trials: Path) -> Iterator[SettledRow]:
    """Each cell of a run, the disks alone among them; none where its trials have a fixed time."""
    try:
        campaign = parse_campaign(run.record.campaign, "run.json", recorded=True)
    except PoolproofError:
        return
    if campaign.measure.until is None or not trials.is_file():
        return
    read, _refused = read_lines(whole_lines(trials))
    for cell in (*cells_of(read, campaign), *bare_cells_of(read, campaign)):
        if cell.settling is not None:
            yield run.name, cell.layout, cell.workload, cell.settling.converged
