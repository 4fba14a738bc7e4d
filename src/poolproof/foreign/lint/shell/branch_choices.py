"""The text of a script for each choice of branches, if lint cannot tell which of them runs.

A conditional is left alone if its condition depends on a loop variable or on the arguments of a function, because lint
checks the script with each value of these.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.foreign.lint.shell.function_calls import functions_in
from poolproof.foreign.lint.shell.script_branches import (
    Conditional,
    exclusive_branches,
    only_branch,
    without_dead_branches,
)
from poolproof.foreign.lint.shell.script_values import known_variables, runs_of
from poolproof.foreign.lint.shell.variable_keys import on_each_line, variable_of

_ARGUMENT = re.compile(r"\$\{?[1-9@*#]")
_VALUE = r"(?:^|[\s;]){name}\+?=(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s;]*)"


@dataclass(frozen=True)
class LiveText:
    """The script in one iteration of its loops, without the branches that do not run.

    `variables`: the values of its variables. `values`: those of its loop variables.
    `shown`: the values that tell people which iteration it is and which branches run.
    `starts_over`: True if other branches run than in the previous iteration, so that the two exclude each other.
    """

    text: str
    variables: Mapping[str, str]
    values: Mapping[str, str]
    shown: Mapping[str, str]
    starts_over: bool = False


def live_texts(text: str, loops: Mapping[str, Sequence[str]]) -> tuple[LiveText, ...]:
    """Return the text for each choice of branches and each combination of the loop variables' values.

    `loops`: the values of the loop variables, keyed by variable.
    """
    text = without_dead_branches(text, known_variables(text))
    found = list(_choices(text, loops))
    set_in_branches = {name for each in found for name in each.names}
    loops = {name: values for name, values in loops.items() if name not in set_in_branches}
    numbers = {f"branch {at}": tuple(map(str, range(len(each.branches)))) for at, each in enumerate(found)}
    texts: list[LiveText] = []
    before: Sequence[int] = ()
    for run in runs_of({**numbers, **{name: tuple(values) for name, values in loops.items()}}):
        kept = [int(run[key]) for key in numbers]
        values = {name: run[name] for name in loops}
        texts.append(_live_text(text, found, kept, values, starts_over=bool(texts) and kept != before))
        before = kept
    return tuple(texts)


def _choices(text: str, loops: Mapping[str, Sequence[str]]) -> Iterator[Conditional]:
    """Yield the conditionals whose branches lint tries one after another."""
    spans = [(each.start, each.end) for each in functions_in(text) if _ARGUMENT.search(text, each.start, each.end)]
    of_loops = re.compile("|".join([*(rf"\$\{{?{variable_of(name)}\b" for name in loops), r"(?!)"]))
    for found in exclusive_branches(text):
        place = found.branches[0].start
        if not of_loops.search(found.condition) and not any(start <= place < end for start, end in spans):
            yield found


def _live_text(
    text: str, found: Sequence[Conditional], kept: Sequence[int], values: Mapping[str, str], *, starts_over: bool
) -> LiveText:
    live = text
    for each, number in zip(found, kept, strict=True):
        live = only_branch(live, each, number)
    variables = _decided(known_variables(live), found, kept)
    without_dead = without_dead_branches(live, {**variables, **on_each_line(values)})
    if without_dead != live:
        live, variables = without_dead, _decided(known_variables(without_dead), found, kept)
    telling = [name for each in found if (name := _telling(text, each))]
    shown = {name: variables.get(name) or variables.get(f"{name}[@]") or _last_value(name, live) for name in telling}
    return LiveText(live, variables, values, {**shown, **values}, starts_over)


def _decided(variables: Mapping[str, str], found: Sequence[Conditional], kept: Sequence[int]) -> Mapping[str, str]:
    """Return the variables, with the values to which the conditions of the chosen branches compare them.

    A variable is unknown if its value is that of a branch that was not chosen.
    """
    decided = dict(variables)
    for each, number in zip(found, kept, strict=True):
        for at, branch in enumerate((*each.branches, *each.ending)):
            if branch.given is None:
                continue
            name, value = branch.given
            if at == number:
                decided[name] = value
            elif decided.get(name) == value and each.branches[number].given is None:
                del decided[name]
    return decided


def _telling(text: str, found: Conditional) -> str:
    """Return a variable that the branches set to different values, or an empty string."""
    for name in found.names:
        values = {_last_value(name, text[branch.start : branch.end]) for branch in found.branches}
        if len(values) > 1:
            return name
    return ""


def _last_value(name: str, text: str) -> str:
    values = re.findall(_VALUE.format(name=name), text)
    return str(values[-1]).strip("\"'") if values else ""
