"""The limits of the byte accounting: the docs contain the same values that the rules use."""

import re
from pathlib import Path

from poolproof.rules import tolerances
from poolproof.rules.rule_catalogue import all_rules

_DOCS = Path(__file__).parents[3] / "docs" / "verdicts.md"
_ROW = re.compile(
    r"^\| (reads|writes, at the end|writes, drained) \|.*\| at least (\S+) \| (\S+) to (\S+) \| under (\S+) \|$", re.M
)


def test_the_table_of_the_byte_accounting_has_these_limits() -> None:
    rows = {name: [float(text) for text in limits] for name, *limits in _ROW.findall(_DOCS.read_text("utf-8"))}
    assert rows == {
        "reads": _row(tolerances.READ),
        "writes, at the end": _row(tolerances.WRITTEN),
        "writes, drained": _row(tolerances.WRITTEN),
    }


def _row(least: float) -> list[float]:
    return [least, tolerances.REFUTED, least, tolerances.REFUTED]


def test_the_limits_are_in_order() -> None:
    reads = (tolerances.REFUTED, tolerances.READ, tolerances.ALL_READ, 1.0)
    writes = (tolerances.REFUTED, tolerances.WRITTEN_IN_TIME, tolerances.WRITTEN, 1.0)
    requests = (
        tolerances.REFUTED,
        tolerances.REQUESTS,
        tolerances.REQUESTS_IF_UNEVEN,
        tolerances.REQUESTS_OF_EACH,
        1.0,
    )
    for limits in (reads, writes, requests):
        assert list(limits) == sorted(limits)


def test_rules_state_the_limits_that_they_use() -> None:
    texts = {rule.id: rule.shows for rule in all_rules()}
    assert f" {tolerances.percent(tolerances.READ)} " in texts["read-from-cache"]
    assert f" {tolerances.percent(tolerances.WRITTEN)} " in texts["write-vanished"]
    assert f"less than {tolerances.percent(tolerances.REQUESTS)} of" in texts["reads-without-requests"]
