"""The SQL of the views for queries.

docs/query.md describes each column, and a test compares the page with the views. As in exports, refuted and failed
results appear only in the `rejected_…` columns.
"""

import dataclasses
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from poolproof.campaign.model import HEALTHY
from poolproof.evidence.model import Account, LeafUse
from poolproof.metrics import METRICS, REJECTED, MetricId
from poolproof.results.runs.model import SCHEMA, TrialMetrics
from poolproof.results.runs.summary import AccountSum
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import t_factor
from poolproof.verdicts import WORST_FIRST, counts

_SQL_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
_EXACT_FREEDOMS = 20
_Z = 1.959963984540054
_SERIES = (
    _Z,
    (_Z**3 + _Z) / 4,
    (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96,
    (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384,
    (79 * _Z**9 + 776 * _Z**7 + 1482 * _Z**5 - 1920 * _Z**3 - 945 * _Z) / 92160,
)
"""Coefficients of the 95 % t factor in powers of 1 / degrees of freedom (Abramowitz and Stegun 26.7.5)."""

SETTLED_CELLS = "settled_cells"
"""A column of `run_files` that maps `_CELL_KEY` to whether the cell converged. Null until a query uses it."""

_CELL_KEY = "concat_ws(chr(31), layout, workload, state)"
_MEASURED = "filter (where verdict <> 'failed')"


def _struct_of(kind: type) -> str:
    """Return the DuckDB type of a dataclass that is stored as JSON: `STRUCT(device VARCHAR, read_bytes BIGINT)`."""
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
    "findings": f"{_struct_of(Finding)}[]",
    "metric": "VARCHAR",
    "figures": _struct_of(TrialMetrics),
    "account": _struct_of(Account),
    "leaves": f"{_struct_of(LeafUse)}[]",
    "stored_bytes": "MAP(VARCHAR, BIGINT)",
    "begun_at": "VARCHAR",
    "seconds": "MAP(VARCHAR, DOUBLE)",
    "settling": "STRUCT(settled BOOLEAN)",
    "source": "VARCHAR",
    "columns": "MAP(VARCHAR, VARCHAR)",
    "state": "VARCHAR",
    "verdicts": "MAP(VARCHAR, VARCHAR)",
}
"""The keys that are read from trials.jsonl, with their DuckDB types."""

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


def read_lines(files: Sequence[str]) -> str:
    """Return SQL that reads JSON Lines files and adds the file name to each row.

    A line with another schema version makes the query fail.
    """
    columns = ", ".join(f"{name}: {literal(kind)}" for name, kind in {**RAW, "schema": "INTEGER"}.items())
    names = ", ".join(map(literal, files))
    return (
        f"select {', '.join(RAW)}, filename from read_json([{names}], format = 'newline_delimited', "
        f"filename = true, columns = {{{columns}}}) "
        f"where if(schema = {SCHEMA}, true, error('a line has another schema version')::BOOLEAN)"
    )


def no_lines() -> str:
    """Return SQL with the columns of `read_lines` and no rows."""
    nulls = ", ".join(f"null::{kind} as {name}" for name, kind in RAW.items())
    return f"select {nulls}, null::VARCHAR as filename where false"


def literal(text: str) -> str:
    """Return the text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def macros() -> Iterator[str]:
    """Yield the SQL macros `setting` and `t_factor`.

    `setting` extracts the value of a matrix option from the name of a layout or workload. `t_factor` returns the half
    width of a 95 % interval as a multiple of the standard error. Above 20 degrees of freedom, it uses a series that is
    accurate to six digits.
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
    """Return the SQL definitions of the views by name. The views read `placed_trials` and `run_files`."""
    named = f"run, layout, workload, number, {_verdict_of()} as verdict"
    leaves = "unnest(leaves, recursive := true)"
    return {
        "runs": f"select {', '.join(RUN_COLUMNS)} from run_files order by begun_at, run",
        "trials": _trials(),
        "cells": _cells(),
        "leaves": f"select {named}, {_counts(_verdict_of())} as counts, {leaves}, state from placed_trials",
        "findings": f"select {named}, unnest(findings, recursive := true), state from placed_trials",
    }


def placed_trials(lines: str) -> str:
    """Return SQL that creates a view of all trial lines, each with its run. `lines` is the SQL that reads the lines.

    Lines that were written before the key `state` existed get the state `healthy`.
    """
    return (
        f"create view placed_trials as select run_files.run as run, {SETTLED_CELLS}, lines.* exclude (filename) "
        f"replace (coalesce(lines.state, {literal(HEALTHY)}) as state) "
        f"from ({lines}) as lines join run_files on run_files.file = lines.filename"
    )


def fill_settled() -> str:
    """Return SQL that fills `settled_cells` from five lists.

    They contain the runs, the layouts, the workloads, the states, and whether each cell converged.
    """
    names = ("run", "layout", "workload", "state", "settled")
    rows = f"select {', '.join(f'unnest(?) as {name}' for name in names)}"
    found = f"select run, map(list({_CELL_KEY}), list(settled)) as cells from ({rows}) group by run"
    return f"update run_files set {SETTLED_CELLS} = found.cells from ({found}) as found where found.run = run_files.run"


def _verdict_of(metric: MetricId | None = None) -> str:
    """Return SQL for a metric's verdict, as in `Trial.result`.

    The default is the metric that the workload is compared by.
    """
    return f"coalesce(verdicts[{literal(metric) if metric else 'metric'}], verdict)"


def _counts(verdict: str) -> str:
    return f"coalesce({verdict} in ({', '.join(map(literal, sorted(filter(counts, WORST_FIRST))))}), false)"


def _trials() -> str:
    values = [(metric.column, f"figures.{metric.field}", _counts(_verdict_of(metric.id))) for metric in METRICS]
    parts = ["run", "layout", "workload", "number", "metric", f"{_verdict_of()} as verdict"]
    parts += [f"{_counts(_verdict_of())} as counts"]
    parts += ["settling.settled as settled"]
    parts += [f"case when {is_counted} then {value} end as {name}" for name, value, is_counted in values]
    parts += [f"case when not {is_counted} then {value} end as {REJECTED}{name}" for name, value, is_counted in values]
    parts += [f"account.{field.name} as {field.name}" for field in dataclasses.fields(Account)]
    parts += ["try_cast(begun_at as TIMESTAMP) as begun_at", "stored_bytes", "seconds", "source", "columns", "state"]
    return f"select {', '.join(parts)} from placed_trials"


def _cells() -> str:
    """Return SQL that combines trials into cells, as `results/runs/summary.py` does.

    A cell has the worst verdict of its trials, and values of failed trials are left out.
    """
    order = f"[{', '.join(map(literal, WORST_FIRST))}]"
    worst = f"{order}[min(coalesce(list_position({order}, {_verdict_of()}), 1))]"
    groups = "run, layout, workload, state"
    sums = [field.name for field in dataclasses.fields(AccountSum)]
    inner = [groups, f"{worst} as verdict", "count(*) as trials", "arg_min(metric, number) as metric"]
    inner += ["max(begun_at) as begun_at", f"any_value({SETTLED_CELLS}[{_CELL_KEY}]) as settled"]
    inner += [f"{_summed(name)} as {name}" for name in sums]
    outer = ["run, layout, workload, metric, verdict", f"{_counts('verdict')} as counts", "settled", "trials"]
    rejected = []
    for metric in METRICS:
        name, value = metric.column, f"figures.{metric.field}"
        inner += [
            f"avg({value}) {_MEASURED} as {name}",
            f"stddev_samp({value}) {_MEASURED} as {name}_s",
            f"count({value}) {_MEASURED} as {name}_n",
            f"bool_and({_counts(_verdict_of(metric.id))}) as {name}_counts",
        ]
        half = f"t_factor({name}_n - 1) * {name}_s / sqrt({name}_n)"
        outer += [
            f"case when {name}_counts then {name} end as {name}",
            f"case when {name}_counts then if({name} < {half}, 0, {name} - {half}) end as {name}_low",
            f"case when {name}_counts then {name} + {half} end as {name}_high",
        ]
        rejected += [f"case when not {name}_counts then {name} end as {REJECTED}{name}"]
    outer += [*rejected, *sums, "try_cast(begun_at as TIMESTAMP) as begun_at", "state"]
    return f"select {', '.join(outer)} from (select {', '.join(inner)} from placed_trials group by {groups})"


def _summed(field: str) -> str:
    """Return SQL for a field of `AccountSum`. Written bytes are counted until the drain has ended."""
    if field == "write_factor":
        return f"arg_min(account.write_factor, number) {_MEASURED}"
    source = "leaf_drained_write_bytes" if field == "leaf_write_bytes" else field
    return f"(sum(account.{source}) {_MEASURED})::BIGINT"
