"""What layouts are ranked by: a workload, or a mix of several with weights."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from poolproof.campaign.model import Campaign
from poolproof.campaign.nearest import did_you_mean, listed
from poolproof.errors import UsageError

_LISTED = 8
_OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")
_HINT = "write --weights etcd=2,media=1"


@dataclass(frozen=True)
class Goal:
    """Workloads by name, each with its part of the whole; the parts add up to 1."""

    weights: Mapping[str, float]

    @property
    def only(self) -> str | None:
        """The one workload that the goal is about; None for a mix."""
        return next(iter(self.weights)) if len(self.weights) == 1 else None


def find_goal(campaign: Campaign, goal: str | None, weights: str | None) -> Goal:
    """The goal asked for, else the campaign's own, else its one workload. A matrix counts each of its cells alike.

    Raises:
        UsageError: there is none, it names no workload, or both `goal` and `weights` are given.
    """
    if goal is not None and weights is not None:
        raise UsageError("--goal and --weights both say what to rank by", "leave one of them out")
    if weights is not None:
        return _normal(campaign, parse_weights(weights))
    families = list(dict.fromkeys(workload.family for workload in campaign.workloads))
    chosen = goal or campaign.goal or (families[0] if len(families) == 1 else None)
    if chosen is None:
        raise UsageError("the campaign has no goal to rank by", f"--goal {families[0]}; {_known(campaign)}")
    return _normal(campaign, {chosen: 1.0})


def parse_weights(text: str) -> dict[str, float]:
    """`etcd=2,media=1` by name; a comma inside brackets belongs to the name of a matrix's cell.

    Raises:
        UsageError: a part without a positive number, or a name twice.
    """
    found: dict[str, float] = {}
    for part in split_names(text):
        name, _, number = part.rpartition("=")
        if not name or not re.fullmatch(r"\d{1,15}(\.\d{1,15})?", number) or not float(number):
            raise UsageError(f"--weights: `{part[:60]}` is no name with a weight above 0", _HINT)
        if name in found:
            raise UsageError(f"--weights: `{name[:60]}` stands there twice", _HINT)
        found[name] = float(number)
    return found


def split_names(text: str) -> list[str]:
    """Names between commas; those inside brackets belong to a name: `mirror[atime=off,recordsize=16k]`."""
    return [part.strip() for part in _OUTSIDE_BRACKETS.split(text)]


def _normal(campaign: Campaign, asked: Mapping[str, float]) -> Goal:
    whole = sum(asked.values())
    weights: dict[str, float] = {}
    for name, weight in asked.items():
        members = _members(campaign, name)
        for member in members:
            weights[member] = weights.get(member, 0.0) + weight / whole / len(members)
    return Goal(weights)


def _members(campaign: Campaign, name: str) -> list[str]:
    """The workloads that a name stands for: one, or all of a matrix."""
    exact = [workload.name for workload in campaign.workloads if workload.name == name]
    members = exact or [workload.name for workload in campaign.workloads if workload.family == name]
    if not members:
        names = [text for workload in campaign.workloads for text in (workload.family, workload.name)]
        raise UsageError(f"the goal `{name[:60]}` names no workload{did_you_mean(name, names)}", _known(campaign))
    return members


def _known(campaign: Campaign) -> str:
    names = list(dict.fromkeys(workload.family for workload in campaign.workloads))
    return f"there is {listed(names) if len(names) <= _LISTED else ', '.join(names[:_LISTED]) + ' …'}"
