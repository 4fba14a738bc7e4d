"""Write findings as SARIF 2.1.0 (OASIS, 2020), which code hosts and editors display next to the affected lines."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from poolproof.foreign.lint.model import Diagnostic
from poolproof.foreign.lint.own_findings import OWN_FINDINGS
from poolproof.rules.rule_catalogue import all_rules
from poolproof.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_of(found: Sequence[Diagnostic]) -> dict[str, Any]:
    """Return the findings as a SARIF log with one run, including descriptions of the rules that reported them."""
    reported = sorted({each.rule for each in found})
    driver = {"name": "poolproof", "version": __version__, "rules": [_rule(rule) for rule in reported]}
    results = [_result(each, reported.index(each.rule)) for each in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule_id: str) -> dict[str, Any]:
    rule = next((each for each in all_rules() if each.id == rule_id), None)
    if rule is None:
        own = OWN_FINDINGS[rule_id]
        texts = {"shortDescription": own.title, "fullDescription": own.wrong, "help": f"Fix: {own.fix}"}
        return {"id": rule_id, **{key: {"text": text} for key, text in texts.items()}}
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.wrong},
        "help": {"text": f"{rule.shows}\n{rule.error}\nFix: {rule.fix}\nSources: {'; '.join(rule.sources)}"},
    }


def _result(found: Diagnostic, rule: int) -> dict[str, Any]:
    artifact = {"uri": "stdin" if found.source == "-" else quote(found.source)}
    return {
        "ruleId": found.rule,
        "ruleIndex": rule,
        "level": found.severity,
        "message": {"text": f"{found.message}\nfix: {found.fix}"},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": found.line}}}],
    }
