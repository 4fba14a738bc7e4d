"""The views for queries, as SQL. docs/query.md describes each column; a test compares the two.

As in exports, a result that does not count is in a `rejected_…` column, never in the column of results that count.
"""

import dataclasses
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from poolproof.evidence.model import Account, LeafUse
from poolproof.metrics import COLUMNS, REJECTED
from poolproof.results.runs.model import SCHEMA, TrialMetrics
from poolproof.results.runs.summary import AccountSum
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import t_factor
from poolproof.verdicts import WORST_FIRST, counts

_SQL_TYPES = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
_EXACT_FREEDOMS = 20
_Z = 1.959963984540054
_SERIES = (
    _Z,
    (_Z**3 + _Z) / 4,
    (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96,
    (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384,
    (79 * _Z**9 + 776 * _Z**7 + 1482 * _Z**5 - 1920 * _Z**3 - 945 * _Z) / 92160,
)
"""Coefficients of Student's t at 95 % in powers of 1 / degrees of freedom: Abramowitz and Stegun 26.7.5."""


def struct_of(kind: type) -> str:
    """Return DuckDB's type for a dataclass stored as JSON: `STRUCT(device VARCHAR, read_bytes BIGINT)`."""
    hints = typing.get_type_hints(kind)
    fields = (f"{field.name} {_sql_type(hints[field.name])}" for field in dataclasses.fields(kind))
    return f"STRUCT({', '.join(fields)})"


def _sql_type(hint: Any) -> str:
    kinds = [kind for kind in typing.get_args(hint) or (hint,) if kind is not types.NoneType]
    return _SQL_TYPES.get(kinds[0], "VARCHAR")


RAW = {
    "layout": "VARCHAR",
    "workload": "VARCHAR",
    "number": "INTEGER",
    "verdict": "VARCHAR",
    "findings": f"{struct_of(Finding)}[]",
    "metric": "VARCHAR",
    "figures": struct_of(TrialMetrics),
    "account": struct_of(Account),
    "leaves": f"{struct_of(LeafUse)}[]",
    "stored_bytes": "MAP(VARCHAR, BIGINT)",
    "begun_at": "VARCHAR",
    "seconds": "MAP(VARCHAR, DOUBLE)",
    "settling": "STRUCT(settled BOOLEAN)",
    "source": "VARCHAR",
    "columns": "MAP(VARCHAR, VARCHAR)",
}
"""The keys that are read from each line of trials.jsonl, with their DuckDB types."""

RUN_COLUMNS = {
    "run": "VARCHAR",
    "campaign": "VARCHAR",
    "host": "VARCHAR",
    "begun_at": "TIMESTAMP",
    "poolproof": "VARCHAR",
    "fio": "VARCHAR",
    "kernel": "VARCHAR",
    "imported": "BOOLEAN",
}


SETTLED_CELLS = "settled_cells"
"""A column of `run_files`: for each layout and workload, whether it converged. Null until a query uses it."""


def read_lines(files: Sequence[str]) -> str:
    """Return SQL that reads files of lines, with the file name of each line; a line of another schema is an error."""
    columns = ", ".join(f"{name}: {literal(kind)}" for name, kind in {**RAW, "schema": "INTEGER"}.items())
    names = ", ".join(map(literal, files))
    return (
        f"select {', '.join(RAW)}, filename from read_json([{names}], format = 'newline_delimited', "
        f"filename = true, columns = {{{columns}}}) "
        f"where if(schema = {SCHEMA}, true, error('a line of another schema')::BOOLEAN)"
    )


def no_lines() -> str:
    """Return SQL with the same columns and no rows."""
    nulls = ", ".join(f"null::{kind} as {name}" for name, kind in RAW.items())
    return f"select {nulls}, null::VARCHAR as filename where false"


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def macros() -> Iterator[str]:
    """Yield SQL macros: the value of a matrix option from a name that the matrix made, and Student's t for intervals.

    From 21 degrees of freedom upwards, t comes from a series that is exact to six digits.
    """
    yield (
        "create macro setting(name, key) as "
        "nullif(regexp_extract(name, '[\\[,]' || regexp_escape(key) || '=([^,\\]]*)', 1), '')"
    )
    exact = ", ".join(repr(t_factor(freedom)) for freedom in range(1, _EXACT_FREEDOMS + 1))
    powers = (f"{coefficient!r}::DOUBLE / f**{power}" for power, coefficient in enumerate(_SERIES))
    yield (
        f"create macro t_factor(f) as case when f < 1 then null "
        f"when f <= {_EXACT_FREEDOMS} then ([{exact}]::DOUBLE[])[f::INTEGER] else {' + '.join(powers)} end"
    )


def views() -> dict[str, str]:
    """Return the definition of each view by name, over `placed_trials` and `run_files`."""
    named = "run, layout, workload, number, verdict"
    leaves = "unnest(leaves, recursive := true)"
    return {
        "runs": f"select {', '.join(RUN_COLUMNS)} from run_files order by begun_at, run",
        "trials": _trials(),
        "cells": _cells(),
        "leaves": f"select {named}, {_counts('verdict')} as counts, {leaves} from placed_trials",
        "findings": f"select {named}, unnest(findings, recursive := true) from placed_trials",
    }


def placed_trials(lines: str) -> str:
    """Return SQL that creates a view of all lines, each with its run. `lines`: SQL that reads the lines."""
    return (
        f"create view placed_trials as select run_files.run as run, {SETTLED_CELLS}, lines.* exclude (filename) "
        f"from ({lines}) as lines join run_files on run_files.file = lines.filename"
    )


def _trials() -> str:
    counts = _counts("verdict")
    parts = ["run", "layout", "workload", "number", "metric", "verdict", f"{counts} as counts"]
    parts += ["settling.settled as settled"]
    parts += [f"case when {counts} then figures.{field} end as {name}" for name, field in COLUMNS.items()]
    parts += [f"case when not {counts} then figures.{field} end as {REJECTED}{name}" for name, field in COLUMNS.items()]
    parts += [f"account.{field.name} as {field.name}" for field in dataclasses.fields(Account)]
    parts += ["try_cast(begun_at as TIMESTAMP) as begun_at", "stored_bytes", "seconds", "source", "columns"]
    return f"select {', '.join(parts)} from placed_trials"


def fill_settled() -> str:
    """Return SQL that fills `settled_cells` from four lists: runs, layouts, workloads, whether each converged."""
    rows = "select unnest(?) as run, unnest(?) as layout, unnest(?) as workload, unnest(?) as settled"
    found = f"select run, map(list({_PLACE}), list(settled)) as cells from ({rows}) group by run"
    return f"update run_files set {SETTLED_CELLS} = found.cells from ({found}) as found where found.run = run_files.run"


def _cells() -> str:
    """Return the cells as `runs.summary` computes them: the verdict is the worst; a failed trial has no results."""
    order = f"[{', '.join(map(literal, WORST_FIRST))}]"
    worst = f"{order}[min(coalesce(list_position({order}, verdict), 1))]"
    groups = "run, layout, workload"
    inner = [groups, f"{worst} as verdict", "count(*) as trials", "arg_min(metric, number) as metric"]
    inner += ["max(begun_at) as begun_at", f"any_value({SETTLED_CELLS}[{_PLACE}]) as settled"]
    measured = "filter (where verdict <> 'failed')"
    for name, field in COLUMNS.items():
        inner += [
            f"avg(figures.{field}) {measured} as {name}",
            f"stddev_samp(figures.{field}) {measured} as {name}_s",
            f"count(figures.{field}) {measured} as {name}_n",
        ]
    inner += [f"{_summed(field.name, measured)} as {field.name}" for field in dataclasses.fields(AccountSum)]
    counts = _counts("verdict")
    outer = [groups, "metric", "verdict", f"{counts} as counts", "settled", "trials"]
    for name in COLUMNS:
        half = f"t_factor({name}_n - 1) * {name}_s / sqrt({name}_n)"
        outer += [
            f"case when {counts} then {name} end as {name}",
            f"case when {counts} then if({name} < {half}, 0, {name} - {half}) end as {name}_low",
            f"case when {counts} then {name} + {half} end as {name}_high",
        ]
    outer += [f"case when not {counts} then {name} end as {REJECTED}{name}" for name in COLUMNS]
    outer += [field.name for field in dataclasses.fields(AccountSum)]
    outer += ["try_cast(begun_at as TIMESTAMP) as begun_at"]
    return f"select {', '.join(outer)} from (select {', '.join(inner)} from placed_trials group by {groups})"


_PLACE = "layout || chr(31) || workload"
"""The key of a cell within its run."""

_SUMMED = {"leaf_write_bytes": "leaf_drained_write_bytes"}
"""Fields of `AccountSum` that are sums of a field with another name in `Account`."""


def _summed(field: str, measured: str) -> str:
    if field == "write_factor":
        return f"arg_min(account.write_factor, number) {measured}"
    return f"(sum(account.{_SUMMED.get(field, field)}) {measured})::BIGINT"


def _counts(verdict: str) -> str:
    return f"coalesce({verdict} in ({', '.join(map(literal, sorted(filter(counts, WORST_FIRST))))}), false)"
