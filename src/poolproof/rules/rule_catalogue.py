"""Collects all rules: the modules in this package that define `RULE`."""

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from poolproof import rules
from poolproof.errors import UsageError
from poolproof.rules.model import Finding, Rule, rule_id

RETIRED: Mapping[str, str] = {
    "thermal-throttle": "It reported that a drive had slowed down because of heat, but poolproof never read a counter "
    "that shows heat."
}
"""Maps the id of each removed rule that older runs may mention to its purpose and the reason for its removal."""


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    names = sorted(found.name for found in pkgutil.iter_modules(rules.__path__))
    modules = [importlib.import_module(f"{rules.__name__}.{name}") for name in names]
    return tuple(replace(module.RULE, id=rule_id(module.__name__)) for module in modules if hasattr(module, "RULE"))


def rules_of(findings: Iterable[Finding]) -> list[Rule]:
    """Return the rules that produced these findings, each once. Rules that were removed are left out."""
    names = {finding.rule for finding in findings}
    return [each for each in all_rules() if each.id in names] if names else []


def rule(rule_id: str, others: Iterable[str] = ()) -> Rule:
    """Return the rule with this id.

    Raises a UsageError if no rule has this id. The message suggests the most similar id, which may be one of the
    `others`.
    """
    by_id = {each.id: each for each in all_rules()}
    if rule_id in by_id:
        return by_id[rule_id]
    near = get_close_matches(rule_id, [*by_id, *others], n=1, cutoff=0.6)
    meant = f"; did you mean `{near[0]}`?" if near else ""
    raise UsageError(f"there is no rule `{rule_id}`{meant}", "poolproof rules")
