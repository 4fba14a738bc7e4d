"""poolproof: storage benchmarks that prove what they measured. docs/python-api.md describes these functions."""

from typing import TYPE_CHECKING, Any

from poolproof.version import __version__

if TYPE_CHECKING:
    from poolproof.api import Run, audit, lint, load_run

__all__ = ["Run", "__version__", "audit", "lint", "load_run"]


def __getattr__(name: str) -> Any:
    """Import the API only when it is first used, so that `import poolproof` and the commands start quickly."""
    if name not in __all__:
        raise AttributeError(f"module 'poolproof' has no attribute {name!r}")
    from poolproof import api

    return getattr(api, name)
