"""Print docs/rule-tests.md, generated from the rules and their examples in the tests."""

import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.unit.rules.examples import EXAMPLES

from poolproof.evidence.target_facts import Target, ZfsFacts
from poolproof.load.fio.load import job_of
from poolproof.load.model import Load
from poolproof.load.outcome import Outcome
from poolproof.rules.model import Case, Rule
from poolproof.rules.quoted import UNQUOTED, Quoted
from poolproof.rules.rule_catalogue import all_rules
from poolproof.units import format_duration, format_number_of, format_size

_INTRO = """\
# The rules, their sources and their tests

Generated from `src/poolproof/rules/` and `tests/unit/rules/examples/` by `make docs`; do not edit.

This page lists the sources of each rule and the cases with which the rule is tested. [rules.md](rules.md) describes
the rules. Each row is a test (`tests/unit/rules/test_rules.py`): the rule reports the first case but not the second,
which differs only in the property that the rule checks. A case consists of a job and the known facts about its target,
about the jobs before it, and about the result.
"""
_LONGEST_VALUE = 120
_UNSAID = ("ram_bytes", "zfs", "file_system")
_VERBS = {"write": "wrote", "trim": "trimmed"}


def page() -> str:
    """Return all rules with their sources and examples in Markdown."""
    return "\n".join([_INTRO, *(_section(rule) for rule in all_rules())]).rstrip() + "\n"


def _section(rule: Rule) -> str:
    rows = [
        f"| {example.effect} | {' | '.join(_cases(example.case, example.near_miss))} |"
        for example in EXAMPLES.get(rule.id, ())
    ]
    return "\n".join(
        [
            f"## {rule.id}",
            "",
            f"{'; '.join(rule.sources)}.",
            "",
            "| effect | reported | not reported |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _cases(one: Case, other: Case) -> tuple[str, str]:
    """Return both cases as cells of a table. If they read the same, add the values that differ."""
    texts = _case(one), _case(other)
    if texts[0] != texts[1]:
        return texts
    differing = [(name, *map(_shortened, values)) for name, *values in _differences("", one, other)]
    added = (", ".join(f"{name}={values[side]}" for name, *values in differing) for side in (0, 1))
    first, second = (f"{text}, {more}" for text, more in zip(texts, added, strict=True))
    return first, second


def _differences(name: str, one: object, other: object) -> Iterator[tuple[str, object, object]]:
    """Yield the name of each field or item that differs, with its two values."""
    if one == other:
        return
    if is_dataclass(one) and type(one) is type(other):
        for field in fields(one):
            yield from _differences(field.name, getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        for first, second in zip(one, other, strict=True):
            yield from _differences(name, first, second)
    elif isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            yield from _differences(f"{name} {key}", one.get(key), other.get(key))
    else:
        yield name, one, other


def _shortened(value: object) -> str:
    text = " ".join(_short(value).split()).replace("|", "\\|")
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _case(case: Case) -> str:
    """Return a case as a cell of a table."""
    parts = [_jobs(case.load)]
    if case.target is not None:
        parts.append(f"on {_target(case.target)}")
    parts += [f"after {_jobs(load)}" for load in case.earlier]
    if case.drops_caches:
        parts.append("caches dropped")
    if not case.cold:
        parts.append("with warm caches")
    if case.outcome is not None:
        parts.append(_result(case.outcome))
    if case.quoted is not None:
        facts = "; ".join(_set_fields(case.quoted, UNQUOTED, ()))
        parts.append(f"in a text ({facts})" if facts else "in a text")
    parts += _counted(case)
    return ", ".join(parts).replace("|", "\\|")


def _jobs(load: Load) -> str:
    return " + ".join(
        f"`{' '.join(f'{name}={value}' for name, value in job_of(part).options.items())}`" for part in load.parts
    )


def _target(target: Target) -> str:
    said = [target.file_system or "an unknown file system"]
    if target.zfs is not None:
        said += _set_fields(target.zfs, ZfsFacts(), ())
    return " ".join([*said, *_set_fields(target, Target(""), _UNSAID)])


def _set_fields(
    value: Target | ZfsFacts | Quoted, default: Target | ZfsFacts | Quoted, unsaid: tuple[str, ...]
) -> list[str]:
    """Return the fields that differ from their defaults, as `name=value`."""
    names = [field.name for field in fields(value) if field.name not in unsaid]
    found = ((name, getattr(value, name)) for name in names if getattr(value, name) != getattr(default, name))
    return [f"{name}={_short(each)}" for name, each in found]


def _short(value: object) -> str:
    if isinstance(value, frozenset):
        return ",".join(sorted(value))
    if value == ():
        return "none"
    return ",".join(map(str, value)) if isinstance(value, tuple) and not hasattr(value, "_fields") else str(value)


def _result(outcome: Outcome) -> str:
    moved: list[str] = []
    said = []
    for part in outcome.parts:
        for name, direction in part.directions.items():
            median = direction.clat.percentiles_ns.get(50.0) if direction.clat else None
            latency = direction.clat or direction.lat
            is_zero = latency is not None and latency.mean_ns == 0
            submission = direction.slat.mean_ns if direction.slat and is_zero else None
            seconds = (direction.runtime_ms or 0) / 1000
            moved.append(
                f"{_VERBS.get(name, name)} {format_size(direction.io_bytes or 0)} in {format_duration(seconds)}"
                + (f" with p50 {format_duration(median / 1e9)}" if median is not None else "")
                + (" with a mean latency of 0" if is_zero else "")
                + (f" and a submission latency of {format_duration(submission / 1e9)}" if submission else "")
            )
        if part.syncs:
            said.append(f"with {format_number_of(part.syncs, 'sync')}")
        if part.error:
            said.append(f"with error {part.error}")
    return " ".join(filter(None, (outcome.version, " and ".join(moved), *said)))


def _counted(case: Case) -> list[str]:
    evidence, account = case.evidence, case.evidence.account if case.evidence else None
    if evidence is None:
        return []
    said = []
    if account is not None:
        said.append(
            f"disks read {format_size(account.leaf_read_bytes)} and wrote {format_size(account.leaf_write_bytes)} "
            f"({format_size(account.leaf_drained_write_bytes)} after the flush)"
        )
    said += [f"busy with {busy}" for busy in evidence.busy_with]
    said += [format_number_of(len(evidence.files), "checked file")] if evidence.files else []
    said += ["counters of ZFS"] if evidence.zfs is not None else []
    said += [f"{len(evidence.leaves)} disks counted"] if len(evidence.leaves) > 1 else []
    return said


if __name__ == "__main__":
    print(page(), end="")
