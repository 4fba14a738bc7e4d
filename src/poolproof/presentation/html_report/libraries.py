"""Vega, Vega-Lite and Vega-Embed as one script, so that a page needs no network.

vl-convert carries them and puts them together, which takes seconds: the script is kept in the user's cache.
"""

import contextlib
import hashlib
import os
from importlib.metadata import version
from pathlib import Path

from poolproof.results.runs.files import write_whole

_DIGEST_LETTERS = 32
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


def vega_script() -> str:
    """JavaScript that defines `vegaEmbed`, about 900 kB; it can stand inside a script element."""
    folder = _folder()
    kept = _kept(folder)
    if kept is None:
        kept = _made()
        with contextlib.suppress(OSError):  # a cache that can't be written costs time only
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(folder / f"vega-{_version()}-{_digest(kept)}.js", kept.encode(), lasting=False)
    return kept


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "poolproof" / "page"


def _kept(folder: Path) -> str | None:
    """The script in the cache, if it is whole: its name says what it holds."""
    for path in sorted(folder.glob(f"vega-{_version()}-*.js")):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = path.read_text(encoding="utf-8")
            if path.stem.endswith(_digest(text)):
                return text
    return None


def _made() -> str:
    import vl_convert

    script = "(() => {" + vl_convert.javascript_bundle(_SNIPPET) + "})();"  # its own names are one letter long
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _version() -> str:
    return version("vl-convert-python")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LETTERS]
