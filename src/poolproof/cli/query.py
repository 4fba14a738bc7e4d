"""`poolproof query`: query many runs with SQL."""

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from poolproof.cli.options import Json, Runs, Text
from poolproof.cli.output import print_json, say
from poolproof.cli.signals import end_by_exception

if TYPE_CHECKING:
    from poolproof.results.query.connection import QuerySession

_LONGEST_S = 7 * 86400.0


def command(
    folder: Runs,
    sql: Annotated[str, Argument(metavar="SELECT", help="One SELECT statement in DuckDB's SQL.")],
    as_csv: Annotated[bool, Option("--csv", help="Print CSV instead of a table.")] = False,
    time_limit: Annotated[
        Text, Option(metavar="DURATION", help="End the query after this time, such as 30s or 1h. Default: 10m.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Query all runs below a folder with SQL.

    The views are runs, trials, cells, leaves and findings (docs/query.md). Queries are read-only and can access only
    these runs. Runs that can't be read are skipped with a message; the exit code is then 7.
    """
    from poolproof.errors import UsageError
    from poolproof.results.query.connection import open_runs
    from poolproof.results.query.statement import DEFAULT_LIMIT_S, json_value, table_lines, text_value

    if as_csv and as_json:
        raise UsageError("--csv and --json can't be combined", "remove one of them")
    limit_s = DEFAULT_LIMIT_S if time_limit is None else _parse_limit(time_limit)
    end_by_exception()
    with open_runs(folder, limit_s) as session:
        answer = session.ask(sql)
        if as_json:
            columns = [{"name": name, "type": kind} for name, kind in zip(answer.columns, answer.types, strict=True)]
            rows = [[json_value(value) for value in row] for row in answer.rows]
            print_json({"schema": 1, "columns": columns, "rows": rows, "left_out": skipped_objects(session)})
        elif as_csv:
            from poolproof.presentation.export.columns import csv_lines

            texts = ([text_value(value) for value in row] for row in answer.rows)
            typer.echo(csv_lines(answer.columns, texts), nl=False)
        else:
            typer.echo("\n".join(table_lines(answer)))
        if session.is_worth_copies:  # after the answer has been printed, so that the user does not wait for the copy
            say("writing a columnar copy to speed up the next query; it is safe to press Ctrl-C")
            session.keep_copies()
        exit_if_skipped(session, as_json=as_json)


def _parse_limit(text: str) -> float:
    from poolproof.errors import UsageError
    from poolproof.units import parse_duration

    try:
        seconds = parse_duration(text)
    except (ValueError, OverflowError):
        seconds = 0.0
    if not 0 < seconds <= _LONGEST_S:
        problem = f"--time-limit {text[:60]}: expected a duration of more than 0 and at most 7d"
        raise UsageError(problem, "write, for example, --time-limit 30m")
    return seconds


def skipped_objects(session: "QuerySession") -> list[dict[str, str]]:
    """Return the unreadable runs and files that were skipped, as JSON objects."""
    return [{"what": each.what, "why": each.why} for each in session.left_out]


def exit_if_skipped(session: "QuerySession", *, as_json: bool) -> None:
    """Exit with code 7 if anything was skipped. Without `as_json`, first list it on standard error."""
    from poolproof.errors import RunError, one_line

    for each in () if as_json else session.left_out:
        typer.echo(f"poolproof: skipped {one_line(each.what)}: {one_line(each.why)}\n  {one_line(each.hint)}", err=True)
    if session.left_out:
        raise typer.Exit(RunError.exit_code)
