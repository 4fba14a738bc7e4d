"""`poolproof plots`: the charts of a run as files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from poolproof.cli.options import Json


def command(
    run: Annotated[Path, typer.Argument(help="The run directory.")],
    png: Annotated[bool, typer.Option("--png", help="Pixels, for a forum.")] = False,
    svg: Annotated[bool, typer.Option("--svg", help="Lines, for a page or to print.")] = False,
    linear: Annotated[bool, typer.Option("--linear", help="Axes from 0 instead of logarithmic ones.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to. Default: <run>-plots.")] = None,
    as_json: Json = False,
) -> None:
    """Draw a run: each metric over block size, a line for each layout, in folders by sync or async and by mode.

    Refuted and failed figures are drawn hollow and no line passes through them.
    """
    from poolproof.cli.result import end_with_gaps, name_gaps
    from poolproof.errors import RunError, UsageError
    from poolproof.presentation.export.pictures import Kind, drawn, pictures
    from poolproof.presentation.html_report.reading import read

    asked: dict[Kind, bool] = {"png": png, "svg": svg}
    kinds = [kind for kind, wanted in asked.items() if wanted]
    if not kinds:
        raise UsageError("no form was named", "give --png, --svg, or both")
    seen = read(run)
    name_gaps(seen, as_json=as_json)
    place = out or Path(f"{run.resolve().name}-plots")
    written = []
    for picture in pictures(seen.run, "linear" if linear else "log"):
        for kind in kinds:
            written.append(_write(place / f"{picture.place}.{kind}", drawn(picture, kind)))
    if not written:
        raise RunError(f"{run} has no figure to draw yet", f"poolproof show {run}")
    if as_json:
        typer.echo(json.dumps({"written": [str(path) for path in written], "missing": list(seen.gaps)}))
    else:
        typer.echo(f"{place}: {len(written)} files")
    end_with_gaps(seen)


def _write(path: Path, content: bytes) -> Path:
    from poolproof.errors import UsageError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name another folder with --out") from None
    return path
