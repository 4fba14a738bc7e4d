"""The parts of an HTML page: templates, scripts and styles of this package, JSON for scripts, and Vega."""

import base64
import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from poolproof.errors import RunError
from poolproof.files.writing import write_output
from poolproof.presentation.charts import theme as look
from poolproof.presentation.terminal.visible import visible, visible_texts
from poolproof.presentation.terminal.words import MARKS
from poolproof.version import __version__

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_DIGEST_LETTERS = 32
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


def rendered(
    template: str, scripts: Sequence[str], values: Mapping[str, Any], data: Mapping[str, Any], *, draws: bool
) -> str:
    """Fill a template, and return the page.

    Text from the run is escaped, and its control characters are made visible. A name in the template that is missing
    from `values` raises an error. The page's scripts read `data`. Vega is included only if the page `draws` charts.
    """
    environment = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    code = [*([vega_script()] if draws else []), *map(asset, scripts)]
    return environment.get_template(template).render(
        values,
        data=script_json({**data, "look": look.for_pages(), "marks": MARKS}) if data else "",
        marks=MARKS,
        scripts=code,
        script_sources=" ".join(_source(script) for script in code),
        style=asset("report.css"),
        version=__version__,
    )


def write_page(out: Path, text: str, hint: str, *, no_wider_than: Path | None = None) -> None:
    """Write a page to `out`. A new file gets at most the permissions of the file `no_wider_than`.

    Raises:
        RunError: the file cannot be written. `hint` says how to choose another one.
    """
    try:
        write_output(out, text.encode(errors="replace"), no_wider_than=no_wider_than)
    except OSError as error:
        raise RunError(f"{out} cannot be written: {error.strerror}", hint) from None


def asset(name: str) -> str:
    """Return a template, script or style sheet of this package."""
    return (files("poolproof.presentation.html_report") / "assets" / name).read_text(encoding="utf-8")


def script_json(value: Any) -> str:
    """Return compact JSON that is safe inside a script element: no name in a run can close the element.

    Control characters in strings are made visible.
    """
    texts = visible_texts(value)
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def _visible(value: Any) -> Any:
    """Return a value of a template with control characters made visible, but our own HTML and scripts unchanged."""
    return value if hasattr(value, "__html__") else visible(str(value))


def _source(script: str) -> str:
    """Return the CSP source expression that allows only this script (CSP Level 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def vega_script() -> str:
    """Return JavaScript (about 900 kB) that defines `vegaEmbed`. It is safe inside a script element.

    vl-convert includes Vega, Vega-Lite and Vega-Embed, but takes seconds to bundle them, so the script is cached per
    user. The name of the cached file contains a digest of the script.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = (Path(base) if base.startswith("/") else Path.home() / ".cache") / "poolproof" / "page"
    name = f"vega-{version('vl-convert-python')}"
    for path in sorted(folder.glob(f"{name}-*.js")):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = path.read_text(encoding="utf-8")
            if path.stem.endswith(_digest(text)):
                return text
    text = _bundled()
    with contextlib.suppress(OSError):  # without a cache, the next page only takes longer
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_output(folder / f"{name}-{_digest(text)}.js", text.encode(), lasting=False)
    return text


def _bundled() -> str:
    import vl_convert

    # the script's global names are single letters
    script = "(() => {" + vl_convert.javascript_bundle(_SNIPPET) + "})();"
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LETTERS]
