"""The page's template, filled in: everything that comes from a run is escaped, script and style are our own."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def rendered(name: str, values: Mapping[str, Any]) -> str:
    """The template of that name with these values. Text is escaped; an unknown name is a fault."""
    environment = Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["json"] = script_json
    return environment.get_template(name).render(values)


def asset(name: str) -> str:
    """One of the files beside this one: a template, a script, a style sheet."""
    return (files("poolproof.presentation.html_report") / "assets" / name).read_text(encoding="utf-8")


def script_sources(scripts: Iterable[str]) -> str:
    """What a content security policy names scripts by, so that no other one can run (CSP Level 3, 2.3.1)."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


def script_json(value: Any) -> str:
    """Compact JSON that can stand inside a script element: no name in a run can end it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter, escape in _ESCAPES.items():
        text = text.replace(letter, escape)
    return text
