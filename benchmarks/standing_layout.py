"""Build a layout as a run does, keep it while another program measures it, and then remove it."""

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path

from poolproof.campaign.model import Campaign
from poolproof.hosts.local import LocalHost
from poolproof.measure.plan import BuildDirectories, make_plan, plan_one
from poolproof.provision.apply import apply
from poolproof.provision.directories import RAM_FILES, directory_steps, owner_of
from poolproof.provision.journal import Journal
from poolproof.provision.owned import owned_by_site
from poolproof.provision.undo import complain, undo_all


@contextlib.contextmanager
def standing(campaign: Campaign, folder: Path) -> Iterator[Path]:
    """Build the campaign's first layout on this machine, and yield its directory.

    The journal is in `folder`.

    Raises:
        PoolproofError: the layout can't be built or removed.
    """
    host, label = LocalHost(), secrets.token_hex(4)
    own = BuildDirectories(label, f"{folder}/poolproof-{label}", f"{RAM_FILES}/poolproof-{label}")
    plan = make_plan(campaign, host, own, secrets.randbelow(2**31), frozenset())
    journal = Journal(folder / "journal.jsonl")
    try:
        apply(
            directory_steps(plan.site, owner_of(folder), with_ram=plan.uses_ram_files),
            host,
            journal,
            may_overwrite=frozenset(),
        )
        layout = plan_one(plan, host, campaign.layouts[0].name)
        apply(layout.steps, host, journal, may_overwrite=layout.may_overwrite)
        yield Path(layout.tree.volume.path)
    finally:
        complain(undo_all(journal, host, owned_by_site(plan.site)), str(folder))
