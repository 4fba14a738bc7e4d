"""poolproof: storage benchmarks that prove what they measured. docs/python-api.md describes these functions."""

from poolproof.version import __version__

TYPE_CHECKING = False  # type checkers take it for True; importing typing would delay the command's handling of Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from poolproof.api import Run, audit, lint, load_run

__all__ = ["Run", "__version__", "audit", "lint", "load_run"]


def __getattr__(name: str) -> "Any":
    """Import the API only when it is first used, so that `import poolproof` and the commands start quickly."""
    if name not in __all__:
        raise AttributeError(f"module 'poolproof' has no attribute {name!r}")
    from poolproof import api

    return getattr(api, name)
