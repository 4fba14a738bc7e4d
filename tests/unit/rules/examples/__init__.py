"""For each rule: cases that trigger it, with the effect, and near misses that must not trigger it."""

from collections.abc import Mapping

from tests.unit.rules.examples import of_bytes, of_figures, of_jobs, of_targets, of_texts
from tests.unit.rules.examples.building import Example

EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    **of_bytes.EXAMPLES,
    **of_jobs.EXAMPLES,
    **of_targets.EXAMPLES,
    **of_figures.EXAMPLES,
    **of_texts.EXAMPLES,
}

__all__ = ["EXAMPLES", "Example"]
