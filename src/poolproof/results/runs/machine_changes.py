"""Changes to a run's machine or programs between the start of the run and a resume.

Trials before and after a change may differ for this reason alone, so every output that uses them names the changes.
"""

from collections.abc import Mapping

from poolproof.results.runs.model import RunRecord
from poolproof.units import shown_bytes


def machine_changes(before: RunRecord, now: RunRecord) -> Mapping[str, str]:
    """Return the facts and versions that differ between two records, each mapped to `old → new`.

    Facts and versions missing from either record are ignored.
    """
    changes = {}
    for old, new in ((before.facts, now.facts), (before.versions, now.versions)):
        for key, value in old.items():
            # every new lab has another `machine`, and a run without a lab is never resumed on another machine
            if key != "machine" and new.get(key, value) != value:
                was, became = (shown_bytes(each) if key.endswith("_bytes") else each for each in (value, new[key]))
                changes[key.removesuffix("_bytes").replace("_", " ")] = f"{was} → {became}"
    return changes


def changes_text(changes: Mapping[str, str]) -> str:
    """Return a sentence naming the changes, or an empty string if there are none."""
    if not changes:
        return ""
    listed = "; ".join(f"{name}: {change}" for name, change in changes.items())
    return (
        f"The machine changed before the run was resumed ({listed}), so differences between trials from before and "
        "after may come from that."
    )
