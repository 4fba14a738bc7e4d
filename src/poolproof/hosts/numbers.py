"""Read the numbers that a host has printed. A host can be hostile, so nothing else is accepted."""

import re

from poolproof.errors import HostError

_NUMBER = re.compile(r"\d{1,20}", re.ASCII)


def whole_numbers(text: str, source: str) -> tuple[int, ...]:
    """Return the numbers of a text that contains nothing else, in the order of the text.

    `source`: the command or the file whose output the text is, for the message.

    Raises:
        HostError: a word is not a non-negative decimal number, or it has more than 20 digits.
    """
    words = text.split()
    wrong = next((word for word in words if not _NUMBER.fullmatch(word)), None)
    if wrong is not None:
        raise HostError(
            f"{source}: expected only numbers, but the host printed {wrong[:100]!r}",
            "check the host: what it reports cannot be trusted",
        )
    return tuple(map(int, words))
