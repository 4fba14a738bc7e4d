"""`poolproof query`: SQL queries on many runs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from poolproof.cli.options import Json

if TYPE_CHECKING:
    from poolproof.results.query.session import Session
    from poolproof.results.query.statement import QueryResult

Runs = Annotated[Path, typer.Argument(metavar="DIR", help="A folder with runs, or one run.")]


def command(
    folder: Runs,
    sql: Annotated[str, typer.Argument(metavar="SELECT", help="One SELECT statement in DuckDB's SQL.")],
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    as_json: Json = False,
) -> None:
    """Query all runs below a folder with SQL. The views are runs, trials, cells, leaves and findings (docs/query.md).

    A query can only read, and only the runs. A run that can't be read is skipped with a message; the exit code is
    then 7.
    """
    from poolproof.errors import RunError, UsageError
    from poolproof.results.query.session import open_runs

    if as_csv and as_json:
        raise UsageError("--csv and --json were both given", "leave one of them out")
    with open_runs(folder) as session:
        answer = session.ask(sql)
        if as_json:
            typer.echo(_json(answer, session))
        elif as_csv:
            typer.echo(_csv(answer), nl=False)
        else:
            _print_table(answer)
        name_left_out(session, as_json=as_json)
        _keep(session)
        if session.left_out:
            raise typer.Exit(RunError.exit_code)


def name_left_out(session: "Session", *, as_json: bool) -> None:
    """Report on standard error what could not be read; a JSON object contains it instead."""
    for each in () if as_json else session.left_out:
        typer.echo(f"poolproof: skipped {each.what}: {each.why}\n  {each.hint}", err=True)


def _keep(session: "Session") -> None:
    """After the answer, so that nobody waits for it: a copy that makes the next query quick."""
    if session.is_worth_copies:
        typer.echo("keeping a copy in columns, so that the next query is quick; Ctrl-C does no harm", err=True)
        session.keep_copies()


def _json(answer: "QueryResult", session: "Session") -> str:
    from poolproof.results.query.output import json_value

    columns = [{"name": name, "type": kind} for name, kind in zip(answer.columns, answer.types, strict=True)]
    rows = [[json_value(value) for value in row] for row in answer.rows]
    left_out = [{"what": each.what, "why": each.why} for each in session.left_out]
    return json.dumps({"schema": 1, "columns": columns, "rows": rows, "left_out": left_out}, allow_nan=False)


def _csv(answer: "QueryResult") -> str:
    from poolproof.presentation.export.csv import csv_lines
    from poolproof.results.query.output import text_value

    return csv_lines(answer.columns, ([text_value(value) for value in row] for row in answer.rows))


def _print_table(answer: "QueryResult") -> None:
    from poolproof.results.query.output import table_lines

    for line in table_lines(answer):
        typer.echo(line)
