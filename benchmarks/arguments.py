"""The arguments of a benchmark that is started with `python -m`."""

import sys


def arguments(usage: str | None) -> list[str]:
    """Return the arguments of the command line. With `-h` or `--help`, print `usage` and end the program instead.

    `usage`: the benchmark's docstring.
    """
    if {"-h", "--help"} & set(sys.argv[1:]):
        print((usage or "").strip())
        raise SystemExit(0)
    return sys.argv[1:]
