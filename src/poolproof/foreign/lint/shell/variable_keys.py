"""Keys under which the values of variables are passed on, besides their names."""

import re
from collections.abc import Mapping

_OF_LOOP = re.compile(r"^(?P<name>\w+)@(?P<first>\d+)-(?P<last>\d+)")


def key_without_default(name: str) -> str:
    """Return the key that marks a variable as set, so that `${NAME:-default}` is not replaced with the default."""
    return f"{name}:-"


def key_at(name: str, line: int) -> str:
    """Return the key of the value that a variable has on one line, if the script sets it several times."""
    return f"{name}@{line}"


def key_of_loop(name: str, first: int, last: int) -> str:
    """Return the key of a loop's variable, if other loops use the variable with other values.

    `first`, `last`: the lines of the loop.
    """
    return f"{name}@{first}-{last}"


def variable_of(key: str) -> str:
    """Return the name of the variable that has this key."""
    return key.partition("@")[0]


def lines_of_loop(key: str) -> tuple[int, int] | None:
    """Return the first and last line of a loop that has its own key, or None for other variables."""
    found = _OF_LOOP.fullmatch(key)
    return (int(found["first"]), int(found["last"])) if found else None


def on_each_line(values: Mapping[str, str]) -> Mapping[str, str]:
    """Return the values of loop variables. Those of loops with their own key are listed for each line of the loop."""
    spread = dict(values)
    for key, value in values.items():
        first, last = lines_of_loop(key) or (0, -1)
        spread |= {key_at(variable_of(key), line): value for line in range(first, last + 1)}
    return spread


def value_at(variables: Mapping[str, str], name: str, line: int) -> str | None:
    """Return the value of a variable on a line, or None if it is unknown."""
    return variables.get(key_at(name, line), variables.get(name))
