"""The SQL definitions of the query views. A test checks that docs/query.md describes all columns.

As in exports, refuted and failed results appear only in the `rejected_…` columns. The same applies to negative values,
which cannot be real measurements.
"""

import dataclasses
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from poolproof.campaign.cell_key import HEALTHY
from poolproof.evidence.model import Account, LeafUse
from poolproof.metrics import METRICS, REJECTED, MetricId, TrialMetrics, metric_of
from poolproof.results.runs.disturbed import LEAST_OTHERS
from poolproof.results.runs.model import SCHEMA
from poolproof.results.runs.shares import AccountSum
from poolproof.results.runs.summary import Cell
from poolproof.results.runs.trial_files import LARGEST
from poolproof.rules.model import Finding
from poolproof.rules.other_work import OTHER_WORK, PROCESSOR_WEIGHTS
from poolproof.verdicts import WORST_FIRST, Verdict, counts, has_values

_SQL_TYPES = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
KNOWN_CELLS = "known_cells"
"""The name of the table of values that are computed in Python for each cell: confidence intervals, verdicts and marks.

Its columns are `CELL_NAMES`, those named below, and the lower and upper bound of each interval. Until a query needs one
of these values, the table contains only two placeholder rows.
"""

CELL_NAMES = ("run", "layout", "workload", "state")
KNOWN_SETTLED, KNOWN_TOO_FEW = "known_settled", "known_too_few"
KNOWN_EMULATED, KNOWN_OTHERS = "known_emulated", "known_other_verdicts"

_EMULATED = f"{KNOWN_EMULATED} as emulated"
_MARKED = f"placed_trials left join {KNOWN_CELLS} using ({', '.join(CELL_NAMES)})"


def _struct_of(kind: type) -> str:
    """Return the DuckDB type for a dataclass stored as JSON, e.g. `STRUCT(device VARCHAR, read_bytes BIGINT)`."""
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
    "build": "INTEGER",
}
"""The keys to read from trials.jsonl, and the DuckDB type of each."""

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
    """Return the SQL that reads JSON Lines files, with the name of the file added to each row.

    The query fails if a line is damaged or has a different schema version. A line with a value that is not finite, or
    is too large for any real measurement, also counts as damaged (`results/runs/trial_files.py`).
    """
    columns = ", ".join(f"{name}: {literal(kind)}" for name, kind in {**RAW, "schema": "INTEGER"}.items())
    names = ", ".join(map(literal, files))
    return (
        f"select {', '.join(RAW)}, filename from read_json([{names}], format = 'newline_delimited', "
        f"filename = true, columns = {{{columns}}}) "
        f"where if(schema = {SCHEMA}, true, error('a line has a different schema version')::BOOLEAN) "
        f"and if({_are_finite()}, true, error('a line is damaged')::BOOLEAN)"
    )


def _are_finite() -> str:
    """Return the SQL condition that all values of a trial are between `-LARGEST` and `LARGEST`.

    The condition also excludes NaN, because DuckDB considers NaN larger than any other number.
    """
    values = ", ".join(f"coalesce(figures.{field}, 0)" for field in dict.fromkeys(metric.field for metric in METRICS))
    return f"greatest({values}) <= {LARGEST:g} and least({values}) >= {-LARGEST:g}"


def no_lines() -> str:
    """Return the SQL for an empty table with the columns of `read_lines`."""
    nulls = ", ".join(f"null::{kind} as {name}" for name, kind in RAW.items())
    return f"select {nulls}, null::VARCHAR as filename where false"


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def macros() -> Iterator[str]:
    """Yield the SQL that defines the macro `setting`.

    The macro extracts the value of a matrix option from the name of a layout or workload.
    """
    yield (
        "create macro setting(name, key) as "
        "nullif(regexp_extract(name, '[\\[,]' || regexp_escape(key) || '=([^,\\]]*)', 1), '')"
    )


def known_columns() -> dict[str, str]:
    """Return the columns of `KNOWN_CELLS` and their types, in the order in which `known_values` returns values."""
    names = dict.fromkeys(CELL_NAMES, "VARCHAR") | {KNOWN_SETTLED: "BOOLEAN"}
    names |= dict.fromkeys((KNOWN_TOO_FEW, KNOWN_EMULATED, KNOWN_OTHERS), "VARCHAR")
    return names | {f"known_{metric.column}_{end}": "DOUBLE" for metric in METRICS for end in ("low", "high")}


def known_of_no_cell() -> list[list[object]]:
    """Return two placeholder rows for `KNOWN_CELLS`, as one list of values per column.

    Their values span the range of all possible values. Otherwise, DuckDB would optimise the table away, and the query
    plan would not show which of its columns the query uses.
    """
    spans: dict[str, list[object]] = {"VARCHAR": ["", chr(0x10FFFF)], "BOOLEAN": [False, True], "DOUBLE": [0.0, 1e300]}
    return [spans[kind] for kind in known_columns().values()]


def known_values(cell: Cell) -> tuple[object, ...]:
    """Return a cell's row for `KNOWN_CELLS`, without the run.

    If the result was rejected, the row contains no confidence interval.
    """
    settled = None if cell.settling is None else cell.settling.converged
    intervals = [cell.interval(metric.id) if cell.result(metric.id).counts else None for metric in METRICS]
    ends = [end for each in intervals for end in ((None, None) if each is None else (each.low, each.high))]
    too_few = " ".join(metric_of(metric).column for metric in cell.too_few) or None
    others = [f"{metric_of(metric).column}={each.verdict}" for each in cell.other_verdicts for metric in each.metrics]
    return *cell.key, settled, too_few, " ".join(cell.emulated) or None, " ".join(others) or None, *ends


def views() -> dict[str, str]:
    """Return the SQL definitions of the views, keyed by view name.

    The views read from `placed_trials` and `run_files`.
    """
    named = f"run, layout, workload, number, {_verdict_of()} as verdict"
    leaves = "unnest(leaves, recursive := true)"
    return {
        "runs": f"select {', '.join(RUN_COLUMNS)} from run_files order by begun_at, run",
        "trials": _trials(),
        "cells": _cells(),
        "leaves": f"select {named}, {_counts(_verdict_of())} as counts, {leaves}, state, {_EMULATED} from {_MARKED}",
        "findings": f"select {named}, unnest(findings, recursive := true), state from placed_trials",
    }


def placed_trials(lines: str) -> str:
    """Return the SQL that creates a view of all trials, each with the name of its run.

    `lines`: the SQL that reads the trials.

    Trials from versions without states and builds get the state `healthy` and the build 1.
    """
    return (
        f"create view placed_trials as select run_files.run as run, lines.* exclude (filename) "
        f"replace (coalesce(lines.state, {literal(HEALTHY)}) as state, coalesce(lines.build, 1) as build) "
        f"from ({lines}) as lines join run_files on run_files.file = lines.filename"
    )


def fill_known() -> str:
    """Return the SQL that inserts rows into `KNOWN_CELLS`. Its parameters are one list of values per column."""
    return f"insert into {KNOWN_CELLS} select {', '.join('unnest(?)' for _ in known_columns())}"


def _verdict_of(metric: MetricId | None = None) -> str:
    """Return the SQL for the verdict on a metric, like `Trial.verdict_on`. The default is the workload's own metric."""
    return f"coalesce(verdicts[{literal(metric) if metric else 'metric'}], verdict)"


def _counts(verdict: str) -> str:
    """Return the SQL condition that a result with this verdict counts, like `verdicts.counts`."""
    return f"coalesce({_is_one_of(verdict, filter(counts, WORST_FIRST))}, false)"


def _has_values() -> str:
    """Return the SQL condition that a trial has results, like `verdicts.has_values`."""
    return _is_one_of("verdict", filter(has_values, WORST_FIRST))


def _is_one_of(verdict: str, allowed: Iterable[Verdict]) -> str:
    return f"{verdict} in ({', '.join(map(literal, sorted(allowed)))})"


def _trials() -> str:
    values = [
        (metric.column, value, f"({_counts(_verdict_of(metric.id))} and coalesce({value} >= 0, true))")
        for metric in METRICS
        for value in (f"figures.{metric.field}",)
    ]
    parts = ["run", "layout", "workload", "number", "metric", f"{_verdict_of()} as verdict"]
    parts += [f"{_counts(_verdict_of())} as counts"]
    parts += ["settling.settled as settled"]
    parts += [f"case when {is_counted} then {value} end as {name}" for name, value, is_counted in values]
    parts += [f"case when not {is_counted} then {value} end as {REJECTED}{name}" for name, value, is_counted in values]
    parts += [f"account.{field.name} as {field.name}" for field in dataclasses.fields(Account)]
    parts += ["try_cast(begun_at as TIMESTAMP) as begun_at", "stored_bytes", "seconds", "source", "columns", "state"]
    parts += ["build", _EMULATED, f"{_other_verdicts()} as other_verdicts"]
    return f"select {', '.join(parts)} from {_MARKED}"


def _other_verdicts() -> str:
    """Return the SQL for the verdicts on measured metrics that differ from the verdict on the workload's own metric."""
    others = (
        f"case when figures.{metric.field} is not null and {verdict} != {_verdict_of()} "
        f"then {literal(f'{metric.column}=')} || {verdict} end"
        for metric in METRICS
        for verdict in (_verdict_of(metric.id),)
    )
    return f"nullif(concat_ws(' ', {', '.join(others)}), '')"


def doubts() -> str:
    """Return the SQL that counts, per run, the cells with unusable values and the cells with too few events.

    Both counts refer to the workload's own metric (`remarks.py`, `few_events.py`).
    """
    own = " ".join(f"when {literal(metric.id)} then figures.{metric.field}" for metric in METRICS)
    few = " ".join(
        f"when {literal(metric.id)} then figures.{metric.events_field} < {metric.events_needed}"
        for metric in METRICS
        if metric.events_needed and metric.events_field
    )
    usable = f"coalesce((case metric {own} end) >= 0, false)"
    names = ", ".join(CELL_NAMES)
    cell = f"select {names}, not bool_and({usable}) as unusable, bool_or(case metric {few} end) as few"
    cells = f"{cell} from ({_kept()}) where {_has_values()} group by {names}"
    counted = "count(*) filter (where unusable)::INTEGER, count(*) filter (where few)::INTEGER"
    return f"select run, {counted} from ({cells}) group by run"


def _cells() -> str:
    """Return the SQL that combines trials into builds, and builds into cells, like `results/runs/summary.py`.

    A cell's verdict is the worst among the trials selected by `_kept`, but its values exclude failed trials. All builds
    have the same weight in the cell's mean, regardless of their number of trials.
    """
    order = f"[{', '.join(map(literal, WORST_FIRST))}]"
    groups = ", ".join(CELL_NAMES)
    sums = [field.name for field in dataclasses.fields(AccountSum)]
    of_builds = [groups, "build", "min(number) as first_number", "count(*) as trials", "max(begun_at) as begun_at"]
    of_builds += ["any_value(left_out) as left_out"]
    of_builds += ["arg_min(metric, number) as metric"]
    of_builds += [f"min(coalesce(list_position({order}, {_verdict_of()}), 1)) as worst"]
    of_builds += [f"{_summed(name)} as {name}" for name in sums]
    of_cells = [groups, "count(*) as builds", "sum(trials)::BIGINT as trials", "max(begun_at) as begun_at"]
    of_cells += ["sum(left_out)::BIGINT as left_out"]
    of_cells += ["arg_min(metric, first_number) as metric", f"{order}[min(worst)] as verdict"]
    of_cells += [f"{_summed_builds(name)} as {name}" for name in sums]
    outer = ["run, layout, workload, metric, verdict", f"{_counts('verdict')} as counts"]
    outer += [f"{KNOWN_SETTLED} as settled", "trials"]
    rejected = []
    for metric in METRICS:
        name, value = metric.column, f"figures.{metric.field}"
        of_builds += [
            f"avg({value}) filter (where {_has_values()} and {value} >= 0) as {name}",
            f"bool_and({_counts(_verdict_of(metric.id))}) as {name}_counts",
        ]
        of_cells += [f"avg({name}) as {name}", f"bool_and({name}_counts) as {name}_counts"]
        outer += [
            f"case when {name}_counts then {name} end as {name}",
            f"known_{name}_low as {name}_low",
            f"known_{name}_high as {name}_high",
        ]
        rejected += [f"case when not {name}_counts then {name} end as {REJECTED}{name}"]
    outer += [
        *rejected,
        *sums,
        "try_cast(begun_at as TIMESTAMP) as begun_at",
        "state",
        "builds",
        f"{KNOWN_TOO_FEW} as too_few",
        "left_out",
        _EMULATED,
        f"{KNOWN_OTHERS} as other_verdicts",
    ]
    builds = f"select {', '.join(of_builds)} from ({_kept()}) group by {groups}, build"
    found = f"select {', '.join(of_cells)} from ({builds}) group by {groups}"
    return f"select {', '.join(outer)} from ({found}) left join {KNOWN_CELLS} using ({groups})"


def _kept() -> str:
    """Return the SQL that selects the trials to use, like `counting` in `results/runs/cell_builds.py`.

    A build with a failed trial is excluded if the cell has a build without one. The trials of a build that other work
    disturbed are left out if enough others remain; `left_out` is their number.
    """
    groups = ", ".join(CELL_NAMES)
    of_build = f"over (partition by {groups}, build)"
    marked = f"select *, {_is_disturbed()} as disturbed from placed_trials"
    counted = (
        f"select *, bool_or(not {_has_values()}) {of_build} as build_failed, "
        f"count(*) filter (where disturbed) {of_build} as disturbed_trials, "
        f"count(*) filter (where not disturbed and {_has_values()}) {of_build} as other_trials from ({marked})"
    )
    left_out = f"if(other_trials >= greatest({LEAST_OTHERS}, disturbed_trials), disturbed_trials, 0)"
    chosen = f"select *, {left_out} as left_out from ({counted})"
    return (
        f"select * from ({chosen}) where not disturbed or left_out = 0 "
        f"qualify not build_failed or bool_and(build_failed) over (partition by {groups})"
    )


def _is_disturbed() -> str:
    """Return the SQL condition that other work disturbed a trial, like `is_disturbed` in `disturbed.py`."""
    of_metric = "coalesce(found.metrics in ('', '[]') or contains(found.metrics, '\"' || metric || '\"'), true)"
    is_known = f"found.rule = {literal(OTHER_WORK)}"
    by_processors = f"found.weight in ({', '.join(map(str, PROCESSOR_WEIGHTS))})"

    def causes(condition: str) -> str:
        return f"len([found for found in findings if found.effect = 'suspects' and {of_metric} and {condition}])"

    has_only_known = f"{causes(f'not {is_known}')} = 0 and {causes(f'{is_known} and {by_processors}')} > 0"
    return f"coalesce({_verdict_of()} = 'suspect' and {has_only_known}, false)"


def _summed(field: str) -> str:
    """Return the SQL that sums a field of `AccountSum` over trials. Written bytes include the drain."""
    if field == "write_factor":
        return f"arg_min(account.write_factor, number) filter (where {_has_values()})"
    source = "leaf_drained_write_bytes" if field == "leaf_write_bytes" else field
    return f"(sum(account.{source}) filter (where {_has_values()}))::BIGINT"


def _summed_builds(field: str) -> str:
    """Return the SQL that combines a field of `AccountSum` over the builds of a cell."""
    if field == "write_factor":
        return "arg_min(write_factor, first_number) filter (where write_factor is not null)"
    return f"sum({field})::BIGINT"
