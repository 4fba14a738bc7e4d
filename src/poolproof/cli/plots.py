"""`poolproof plots`: the old name of `poolproof export --format png` and `--format svg`.

It still works, but the help does not list it.
"""

from pathlib import Path
from typing import Annotated

from typer import Option

from poolproof.cli.options import Json, Run


def command(
    run: Run,
    png: Annotated[bool, Option("--png", help="Write PNG files, for forums.")] = False,
    svg: Annotated[bool, Option("--svg", help="Write SVG files, for web pages and print.")] = False,
    linear: Annotated[bool, Option("--linear", help="Use linear axes that start at 0.")] = False,
    out: Annotated[Path | None, Option(metavar="DIR", help="The folder. Default: <run>-plots.")] = None,
    as_json: Json = False,
) -> None:
    """Draw each metric of a run over block size, with a line for each layout.

    The pictures are in folders by sync or async, then by mode. Refuted and failed results are drawn as hollow points
    without a line.
    """
    from poolproof.cli.export import draw
    from poolproof.errors import UsageError

    kinds = ["png"] * png + ["svg"] * svg
    if not kinds:
        raise UsageError("no format was given", "add --png, --svg, or both")
    draw(run, kinds, linear=linear, out=out, as_json=as_json)
