"""The folder in the user's cache that contains the labs, their images and their ssh key."""

from pathlib import Path

from poolproof.errors import HostError
from poolproof.files.cache import cache_folder
from poolproof.files.owners import folder_fault


def lab_folder() -> Path:
    """Return the folder for labs and images: $XDG_CACHE_HOME/poolproof/lab or ~/.cache/poolproof/lab.

    If it does not exist, it is created, and only this user can access it.

    Raises a HostError if it can't be created, or if another user could change it: its files decide what a lab runs, and
    how ssh connects to it.
    """
    try:
        folder = cache_folder("lab")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fault = folder_fault(folder.resolve())
    except OSError as error:
        raise HostError(
            f"{error.filename or 'the folder for labs'} cannot be created: {error.strerror or error}",
            "set XDG_CACHE_HOME to a folder that you can write to",
        ) from None
    if fault is not None:
        raise HostError(f"{folder} cannot be used for labs: {fault}", "set XDG_CACHE_HOME to a folder of your own")
    return folder
