"""Build HTML pages from templates, scripts and styles in this package, JSON data, and Vega."""

import base64
import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from poolproof.errors import RunError
from poolproof.files.cache import own_cache
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
    """Render a template as an HTML page.

    Strings from the run are HTML-escaped, and their control characters are shown as escapes. If the template uses a
    name that is missing from `values`, an error is raised.

    `data`: an object for the page's scripts, embedded as JSON.
    `draws`: whether the page has charts and therefore needs Vega.
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
    """Write an HTML page to `out`.

    `hint`: how to choose another file, for the error message.
    `no_wider_than`: an existing file. If `out` is new, its permissions are not wider than those of this file.

    Raises a RunError if the page cannot be written.
    """
    try:
        write_output(out, text.encode(errors="replace"), no_wider_than=no_wider_than)
    except OSError as error:
        raise RunError(f"{out} cannot be written: {error.strerror}", hint) from None


def asset(name: str) -> str:
    """Return the contents of the template, script or style sheet with the given name."""
    return (files("poolproof.presentation.html_report") / "assets" / name).read_text(encoding="utf-8")


def script_json(value: Any) -> str:
    """Return compact JSON that can be embedded in a script element, because no string in it can close the element.

    Control characters in strings are shown as escapes.
    """
    texts = visible_texts(value)
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def _visible(value: Any) -> Any:
    """Show control characters in a template value as escapes. poolproof's own HTML and scripts stay unchanged."""
    return value if hasattr(value, "__html__") else visible(str(value))


def _source(script: str) -> str:
    """Return the CSP source expression that allows only this script (CSP Level 3, 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def vega_script() -> str:
    """Return about 900 kB of JavaScript that defines `vegaEmbed` and can be embedded in a script element.

    vl-convert includes Vega, Vega-Lite and Vega-Embed, but needs several seconds to bundle them. The bundle is
    therefore cached for each user, unless other users could change the cache. The cached file's name contains a digest,
    which reveals a damaged file.
    """
    folder = own_cache("page")
    if folder is None:
        return _bundled()
    name = f"vega-{version('vl-convert-python')}"
    for path in sorted(folder.glob(f"{name}-*.js")):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = path.read_text(encoding="utf-8")
            if path.stem.endswith(_digest(text)):
                return text
    text = _bundled()
    with contextlib.suppress(OSError):  # if caching fails, the next page just takes longer
        write_output(folder / f"{name}-{_digest(text)}.js", text.encode(), lasting=False)
    return text


def _bundled() -> str:
    import vl_convert

    # the script's global names are single letters
    script = "(() => {" + vl_convert.javascript_bundle(_SNIPPET) + "})();"
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LETTERS]
