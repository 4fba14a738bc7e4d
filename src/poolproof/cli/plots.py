"""`poolproof plots`: the former name of `poolproof export --format png`; still accepted, hidden from the help."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from poolproof.cli.options import Json, Run


def command(
    run: Run,
    png: Annotated[bool, typer.Option("--png", help="Write PNG files, for forums.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="Write SVG files, for web pages and print.")] = False,
    linear: Annotated[bool, typer.Option("--linear", help="Use linear axes that start at 0.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="The folder. Default: <run>-plots.")] = None,
    as_json: Json = False,
) -> None:
    """Draw each metric of a run over block size, with a line for each layout, in folders by sync or async and by mode.

    Refuted and failed results are drawn as hollow points without a line.
    """
    from poolproof.errors import UsageError

    options: dict[Literal["png", "svg"], bool] = {"png": png, "svg": svg}
    kinds = [kind for kind, given in options.items() if given]
    if not kinds:
        raise UsageError("no format was given", "add --png, --svg, or both")
    draw(run, kinds, linear=linear, out=out, as_json=as_json)


def draw(run: Path, kinds: Sequence[Literal["png", "svg"]], *, linear: bool, out: Path | None, as_json: bool) -> None:
    """Write the charts of a run as image files.

    Raises:
        RunError: the run has no results yet.
    """
    from poolproof.cli.result import end_with_gaps, name_gaps
    from poolproof.errors import RunError
    from poolproof.presentation.export.pictures import drawn, pictures
    from poolproof.results.runs.loading import load_run

    seen = load_run(run, lenient=True)
    name_gaps(seen, as_json=as_json)
    folder = out or Path(f"{run.resolve().name}-plots")
    written = []
    for picture in pictures(seen, "linear" if linear else "log"):
        for kind in kinds:
            written.append(_write(folder / f"{picture.place}.{kind}", drawn(picture, kind)))
    if not written:
        raise RunError(f"{run} has no results to draw yet", f"poolproof show {run}")
    if as_json:
        typer.echo(json.dumps({"written": [str(path) for path in written], "missing": list(seen.missing)}))
    else:
        typer.echo(f"{folder}: {len(written)} files")
    end_with_gaps(seen)


def _write(path: Path, content: bytes) -> Path:
    from poolproof.errors import UsageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name another folder with --out") from None
    return path
