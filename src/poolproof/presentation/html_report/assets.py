"""What pages are made of: templates, scripts and styles of this package, JSON for scripts, and Vega as one script."""

import base64
import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from poolproof.results.runs.files import write_whole

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_DIGEST_LETTERS = 32
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


def rendered(name: str, values: Mapping[str, Any]) -> str:
    """Fill in a template. Text from the run is escaped; an unknown name raises an error."""
    environment = Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["json"] = script_json
    return environment.get_template(name).render(values)


def asset(name: str) -> str:
    """Return a template, script or style sheet of this package."""
    return (files("poolproof.presentation.html_report") / "assets" / name).read_text(encoding="utf-8")


def script_sources(scripts: Iterable[str]) -> str:
    """Return the sources by which a content security policy allows only these scripts (CSP Level 3, 2.3.1)."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def script_json(value: Any) -> str:
    """Return compact JSON that is safe inside a script element: no name in a run can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter, escape in _ESCAPES.items():
        text = text.replace(letter, escape)
    return text


def vega_script() -> str:
    """Return JavaScript that defines `vegaEmbed`, about 900 kB, safe inside a script element.

    vl-convert includes Vega, Vega-Lite and Vega-Embed, but takes seconds to bundle them, so the script is cached for
    the user.
    """
    folder = _cache_folder()
    cached = _cached(folder)
    if cached is None:
        cached = _bundled()
        with contextlib.suppress(OSError):  # without a cache it only takes longer
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(folder / f"vega-{_vega_version()}-{_digest(cached)}.js", cached.encode(), lasting=False)
    return cached


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "poolproof" / "page"


def _cached(folder: Path) -> str | None:
    """Return the cached script if it matches the digest in its file name."""
    for path in sorted(folder.glob(f"vega-{_vega_version()}-*.js")):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = path.read_text(encoding="utf-8")
            if path.stem.endswith(_digest(text)):
                return text
    return None


def _bundled() -> str:
    import vl_convert

    script = "(() => {" + vl_convert.javascript_bundle(_SNIPPET) + "})();"  # its global names are single letters
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _vega_version() -> str:
    return version("vl-convert-python")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LETTERS]
