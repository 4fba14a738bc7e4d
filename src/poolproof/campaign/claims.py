"""Claims about the results of a campaign. The grammar is defined in claim.lark and explained in docs/claims.md.

Claims are parsed into trees and never executed as Python. `results/runs/claim_results.py` tests them against the
results of a run.
"""

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from poolproof.campaign import document
from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.expression import TextSpan, pointed
from poolproof.campaign.names import did_you_mean, listed
from poolproof.errors import CampaignError, one_line
from poolproof.metrics import COMPARABLE
from poolproof.verdicts import WORST_FIRST

if TYPE_CHECKING:
    from lark import Lark

GRAMMAR_FILE = Path(__file__).with_name("claim.lark")
_LONGEST = 2000  # each term of a sum takes one level of recursion, and a term has at least two characters
CELL_VALUES = (*COMPARABLE, "read_ratio", "write_ratio")
"""The values that a claim can refer to as NAME(layout, workload).

Latencies are in seconds, and bandwidth is in bytes per second.
"""
DEVICE_SHARES = ("read_share", "write_share", "stored_share", "utilisation")
"""The values that a claim can refer to as NAME(layout, workload, device)."""
Relation = Literal["<=", ">=", "=", "<", ">"]
Operator = Literal["add", "subtract", "multiply", "divide"]

_CONDITION = "read_share(mirror, reads, ssd) = 50% ± 10%"
_EXAMPLE = f"write a condition like: {_CONDITION}"
_KEYS = ("claim", "source", "that")
_UNITS = {
    "": 1.0,
    "%": 0.01,
    "x": 1.0,
    "k": 1e3,
    "M": 1e6,
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    **{f"{prefix}B/s": 1000.0**power for power, prefix in enumerate(("", "k", "M", "G", "T"))},
    **{f"{prefix}iB/s": 1024.0**power for power, prefix in enumerate(("k", "M", "G", "T"), start=1)},
}


@dataclass(frozen=True)
class Quantity:
    """A number in base units: 50% is 0.5, 10ms is 0.01 and 100MB/s is 1e8."""

    value: float
    is_percent: bool = False


@dataclass(frozen=True)
class CellValue:
    """A reference to a value of a cell or, if `device` is set, to a value of one of the cell's devices."""

    name: str
    layout: str
    workload: str
    device: str | None = None


@dataclass(frozen=True)
class Operation:
    """An arithmetic operation on two terms."""

    operator: Operator
    left: "Term"
    right: "Term"


Term = Quantity | CellValue | Operation


@dataclass(frozen=True)
class ComparisonClaim:
    """A comparison, written as `left relation right ± tolerance`. The default tolerance is 0.

    A tolerance in percent is relative to the right side. If the right side is itself a percentage, the tolerance is in
    percentage points instead.
    """

    left: Term
    relation: Relation
    right: Term
    tolerance: Quantity = Quantity(0.0)


@dataclass(frozen=True)
class IsVerdict:
    """A claim that a cell receives this verdict."""

    layout: str
    workload: str
    verdict: str


@dataclass(frozen=True)
class Claim:
    """A claim about storage, its source, and the condition that tests it.

    `text`: the condition as written.
    `that`: the parsed condition.
    """

    claim: str
    source: str
    text: str
    that: ComparisonClaim | IsVerdict = field(compare=False)


def places(that: ComparisonClaim | IsVerdict) -> tuple[tuple[str, str, str | None], ...]:
    """Return (layout, workload, device) for each value in a claim. The device is None for values of the whole cell."""
    if isinstance(that, IsVerdict):
        return ((that.layout, that.workload, None),)
    return tuple((value.layout, value.workload, value.device) for value in cell_values_of(that))


def cell_values_of(that: ComparisonClaim | Term) -> tuple[CellValue, ...]:
    """Return all references to values in a comparison or a term, in the order written. Empty for a number."""
    if isinstance(that, ComparisonClaim | Operation):
        return (*cell_values_of(that.left), *cell_values_of(that.right))
    return (that,) if isinstance(that, CellValue) else ()


def claimed_metrics(claims: Iterable[Claim]) -> Mapping[CellKey, frozenset[str]]:
    found: dict[CellKey, set[str]] = {}
    for claim in claims:
        for value in () if isinstance(claim.that, IsVerdict) else cell_values_of(claim.that):
            if value.name in COMPARABLE:
                found.setdefault(CellKey(value.layout, value.workload), set()).add(value.name)
    return {key: frozenset(metrics) for key, metrics in found.items()}


def read_claims(node: document.Node) -> tuple[Claim, ...]:
    """Read the list of claims after `expect:`.

    Raises a CampaignError if the node is not a list, or a claim has an unknown key, lacks a key or cannot be parsed.
    """
    hint = f"write - {{claim: …, source: …, that: {_CONDITION}}}"
    if not isinstance(node, document.YamlList):
        raise node.spot.mistake("expected a list of claims after `expect`", hint)
    return tuple(_claim(document.expect_mapping(item, "a claim", hint)) for item in node.values)


def _claim(table: document.YamlMapping) -> Claim:
    document.check_keys(table, _KEYS, "a claim")
    claim, source, that = (_text(table, key) for key in _KEYS)
    return Claim(one_line(claim.text), one_line(source.text), one_line(that.text), parse_claim(that.text, that.spot))


def _text(table: document.YamlMapping, key: str) -> document.Scalar:
    node = table.get(key)
    if node is None:
        raise table.spot.mistake(f"this claim has no `{key}`", _EXAMPLE if key == "that" else f"add {key}: …")
    return document.expect_scalar(node, f"text after `{key}`", _EXAMPLE)


def parse_claim(text: str, spot: document.Spot) -> ComparisonClaim | IsVerdict:
    """Parse a claim's condition into a tree.

    Raises a CampaignError if the condition is not valid. The message points at the mistake.
    """
    if len(text) > _LONGEST:
        raise spot.mistake(f"a claim has more than {_LONGEST} characters", "write several claims")
    from lark.exceptions import UnexpectedInput

    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        start = len(text) if error.pos_in_stream is None or error.pos_in_stream < 0 else error.pos_in_stream
        raise _mistake(text, TextSpan(start, start + 1), "the claim cannot be parsed from here on", spot) from None
    return _ClaimParser(text, spot).claim(tree.children[0])


@functools.cache
def _parser() -> "Lark":
    from lark import Lark

    return Lark(GRAMMAR_FILE.read_text(encoding="utf-8"), parser="lalr")


def _mistake(text: str, place: TextSpan, message: str, spot: document.Spot, hint: str = _EXAMPLE) -> CampaignError:
    return CampaignError(f"{spot}: {pointed(text, place, message)}", hint)


class _ClaimParser:
    """Converts lark's parse tree to the types in this module."""

    def __init__(self, text: str, spot: document.Spot) -> None:
        self._text = text
        self._spot = spot

    def claim(self, tree: Any) -> ComparisonClaim | IsVerdict:
        if tree.data == "verdict":
            layout, workload, verdict = tree.children
            if verdict not in WORST_FIRST:
                raise self._unknown(verdict, "verdict", tuple(reversed(WORST_FIRST)))
            return IsVerdict(_name(layout), _name(workload), str(verdict))
        left, relation, right, *tolerance = tree.children
        within = _quantity(tolerance[0].children[0]) if tolerance else Quantity(0.0)
        return ComparisonClaim(self._term(left), relation.value, self._term(right), within)

    def _term(self, tree: Any) -> Term:
        if tree.data == "quantity":
            return _quantity(tree)
        if tree.data == "value":
            return self._cell_value(tree)
        left, right = tree.children
        return Operation(tree.data, self._term(left), self._term(right))

    def _cell_value(self, tree: Any) -> CellValue:
        word, *names = tree.children
        if word not in (*CELL_VALUES, *DEVICE_SHARES):
            raise self._unknown(word, "value", (*CELL_VALUES, *DEVICE_SHARES))
        needed = 3 if word in DEVICE_SHARES else 2
        if len(names) != needed:
            what = "(layout, workload, device)" if needed == 3 else "(layout, workload)"
            raise _mistake(self._text, TextSpan(word.start_pos, word.end_pos), f"expected {word}{what}", self._spot)
        return CellValue(str(word), *(_name(name) for name in names))

    def _unknown(self, word: Any, what: str, known: tuple[str, ...]) -> CampaignError:
        message = f"`{word}` is not a {what}{did_you_mean(str(word), known)}"
        place = TextSpan(word.start_pos, word.end_pos)
        return _mistake(self._text, place, message, self._spot, f"expected {listed(known)}")


def _name(tree: Any) -> str:
    return str(tree.children[0]).strip('"')


def _quantity(tree: Any) -> Quantity:
    text = str(tree.children[0])
    digits = len(text) - len(text.lstrip("0123456789."))
    unit = text[digits:]
    return Quantity(float(text[:digits]) * _UNITS[unit], is_percent=unit == "%")
