"""Read the numbers that a host has printed. A host can be hostile, so nothing else is accepted."""

import re

from poolproof.errors import HostError

_NUMBER = re.compile(r"\d{1,20}", re.ASCII)


def whole_numbers(text: str, source: str, count: int | None = None) -> tuple[int, ...]:
    """Return the numbers of a text that contains nothing else, in the order of the text.

    `source`: the command or the file whose output the text is, for the message.
    `count`: how many numbers the text must contain, or None for any number of them.

    Raises:
        HostError: there are more or fewer numbers, a word is not a non-negative decimal number, or it has more than 20
            digits.
    """
    words = text.split()
    if not all(map(_NUMBER.fullmatch, words)) or (count is not None and len(words) != count):
        expected = "only numbers" if count is None else f"{count} numbers"
        raise HostError(
            f"{source}: expected {expected}, but the host printed {text[:100]!r}",
            "check the host: what it reports cannot be trusted",
        )
    return tuple(map(int, words))
