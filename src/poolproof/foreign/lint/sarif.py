"""Findings as SARIF 2.1.0 (OASIS, 2020), which code hosts and editors show at their lines."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from poolproof.foreign.lint.model import Diagnostic
from poolproof.rules.catalogue import all_rules
from poolproof.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_OWN = {
    "refused-by-fio": "fio would refuse it",
    "unknown-option": "An option that is not known here",
    "unknown-variable": "A variable that can't be known here",
    "no-job": "No job in it",
    "not-text": "Not a text",
}


def sarif_of(found: Sequence[Diagnostic]) -> dict[str, Any]:
    """One run of poolproof, with the rules that spoke and each finding as a result."""
    spoke = sorted({each.rule for each in found})
    driver = {
        "name": "poolproof",
        "version": __version__,
        "rules": [_rule(rule) for rule in spoke],
    }
    results = [_result(each, spoke.index(each.rule)) for each in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule_id: str) -> dict[str, Any]:
    rule = next((each for each in all_rules() if each.id == rule_id), None)
    if rule is None:
        return {"id": rule_id, "shortDescription": {"text": _OWN.get(rule_id, rule_id)}}
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.wrong},
        "help": {"text": f"{rule.shows}\n{rule.error}\nFix: {rule.fix}\nSources: {'; '.join(rule.sources)}"},
    }


def _result(found: Diagnostic, rule: int) -> dict[str, Any]:
    artifact = {"uri": "stdin" if found.source == "-" else quote(found.source)}
    region = {"startLine": found.line}
    return {
        "ruleId": found.rule,
        "ruleIndex": rule,
        "level": found.severity,
        "message": {"text": f"{found.message}\nmend: {found.fix}"},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }
