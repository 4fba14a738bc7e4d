"""Cases for each rule that cause a finding, with its effect, and similar cases that must not cause one."""

from collections.abc import Mapping

from tests.unit.rules.examples import (
    of_boundaries,
    of_bytes,
    of_figures,
    of_jobs,
    of_orders,
    of_sources,
    of_targets,
    of_texts,
)
from tests.unit.rules.examples.building import Example

_ALL = (
    of_bytes.EXAMPLES,
    of_jobs.EXAMPLES,
    of_targets.EXAMPLES,
    of_figures.EXAMPLES,
    of_texts.EXAMPLES,
    of_boundaries.EXAMPLES,
    of_orders.EXAMPLES,
    of_sources.EXAMPLES,
)

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    rule: tuple(example for group in _ALL for example in group.get(rule, ()))
    for rule in dict.fromkeys(rule for group in _ALL for rule in group)
}

__all__ = ["EXAMPLES", "Example"]
