"""Find fio's arguments in `docker run --entrypoint=fio IMAGE --name=a …`, in which the image stands before them."""

from collections.abc import Sequence

from poolproof.load.fio.commandline import read_arguments

_ENTRYPOINT = "--entrypoint"


def place_of_image(words: Sequence[str]) -> int | None:
    """Return the index of the image of a container whose entry point is fio, or None if there is none.

    The image is the first word after the entry point that only options of fio follow.
    """
    start = next((at for at in range(len(words)) if _runs_fio(words, at)), None)
    if start is None:
        return None
    for at in range(start + 1 + (words[start] == _ENTRYPOINT), len(words) - 1):
        if not words[at].startswith("-") and words[at + 1].startswith("-"):
            command = read_arguments(words[at + 1 :])
            if command.jobs and not command.problems and not command.files:
                return at
    return None


def _runs_fio(words: Sequence[str], at: int) -> bool:
    name, equals, value = words[at].partition("=")
    program = value if equals else next(iter(words[at + 1 : at + 2]), "")
    return name == _ENTRYPOINT and program.rpartition("/")[2] == "fio"
