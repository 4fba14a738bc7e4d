"""The user's cache. It is used only if no other user could have put files there.

XDG_CACHE_HOME may name a directory in which every user can create files, such as /var/tmp.
"""

import os
from pathlib import Path

from poolproof.files.owners import own_folder


def cache_folder(name: str) -> Path:
    """Return $XDG_CACHE_HOME/poolproof/NAME or ~/.cache/poolproof/NAME, which need not exist.

    Raises an OSError if the user has no home directory.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        home = Path(base) if base.startswith("/") else Path.home() / ".cache"
    except RuntimeError:
        raise FileNotFoundError("the user has no home directory") from None
    return home / "poolproof" / name


def own_cache(name: str) -> Path | None:
    """Return the path of a part of the user's cache, which is created if it does not exist.

    Return None if it cannot be created, or if another user could change what it contains.
    """
    try:
        return own_folder(cache_folder(name))
    except OSError:
        return None
