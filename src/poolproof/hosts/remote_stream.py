"""Stream the contents of files from a remote host, where a shell loop prints them.

To avoid disturbing the measurement, the loop uses the shell's builtin `read`, so that it starts only one process
(`sleep`) per interval. It runs `date` only once. Later times are derived from /proc/uptime, which has a resolution of
10 ms.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence

from poolproof.errors import CommandError
from poolproof.hosts.base import Tick

# Prints the uptime and the contents of the files named by the arguments.
_TEXT = r"""
    line_end="
"
    read -r up _ </proc/uptime
    text="t$up$line_end"
    for file; do
        text="${text}f$line_end" line=
        while IFS= read -r line; do text="$text $line$line_end"; done <"$file"
        [ -z "$line" ] || text="$text+$line$line_end"
    done
    printf %s "${text}e$line_end"
"""
_CLOCK = r"""
read -r up _ </proc/uptime
now=$(date +%s.%N </dev/null)
read -r after _ </proc/uptime
echo "c$now $up $after"
"""
_LOOP = rf"""
pause=$1; shift
{_CLOCK}
while :; do
    {_TEXT}
    sleep "$pause"
done 2>/dev/null
"""
ONCE = rf"""
pp_clock_of_host() {{ {_CLOCK} }}
pp_texts() {{ {_TEXT} }}
"""
"""Two shell functions: one prints the host's clock, the other prints the current contents of files."""
_LONGEST_MESSAGE = 200
_LARGEST_READING = 16 * 1024**2
_DATE = re.compile(r"\d+(?:\.\d+)?")


def loop(paths: Sequence[str], interval_s: float) -> tuple[str, ...]:
    """Return the command that prints the files' contents every `interval_s` seconds."""
    return ("sh", "-c", _LOOP, "sh", f"{interval_s:g}", *paths)


def ticks(lines: Iterator[str], mark: str, zero_s: float | None = None) -> Iterator[Tick]:
    """Parse the loop's output after the mark. Yield the files' contents for each interval, skipping incomplete output.

    `zero_s`: the host's boot time in seconds since 1970, or None to use the clock at the start of the output.
    """
    found = _after(lines, mark)
    yield from _ticks(found if zero_s is None else (line for line in found if not line.startswith("c")), zero_s or 0.0)


def tick(text: str, zero_s: float) -> Tick | None:
    """Parse the output of `pp_texts`, or return None if it is incomplete.

    `zero_s`: the host's boot time in seconds since 1970, which is ignored if the output starts with the host's clock.
    """
    return next(_ticks(io.StringIO(text, newline="\n"), zero_s), None)


def clock(text: str) -> float | None:
    """Return the host's boot time in seconds since 1970, or None if the output does not start with the host's clock."""
    first = text.partition("\n")[0]
    try:
        return _zero_of_uptime(first[1:]) if first.startswith("c") else None
    except ValueError:
        return None


def _ticks(lines: Iterable[str], zero_s: float) -> Iterator[Tick]:
    """Yield the readings in the lines. Raises a CommandError if the host has not printed them as `loop` does."""
    try:
        yield from _parsed(lines, zero_s)
    except (ValueError, IndexError) as error:
        raise CommandError(f"the host sent an invalid reading: {error}"[:_LONGEST_MESSAGE]) from None


def _parsed(lines: Iterable[str], zero_s: float) -> Iterator[Tick]:
    at_s, texts, size = 0.0, list[list[str]](), 0
    for line in lines:
        kind, rest = line[:1], line[1:]
        size = len(line) if kind == "t" else size + len(line)
        if size > _LARGEST_READING:
            raise ValueError("it is too large")
        match kind:
            case "c":
                zero_s = _zero_of_uptime(rest)
            case "t":
                at_s, texts = zero_s + float(rest), []
            case "f":
                texts.append([])
            case " ":
                texts[-1].append(rest)
            case "+":
                texts[-1].append(rest.removesuffix("\n"))
            case "e":
                yield Tick(at_s, tuple(map("".join, texts)))


def _after(lines: Iterator[str], mark: str) -> Iterator[str]:
    for line in lines:
        if line.rstrip("\n").endswith(mark):
            yield from lines


def _zero_of_uptime(text: str) -> float:
    """Calculate the host's boot time in seconds since 1970, from `date` and the uptimes just before and after it.

    If `date` does not support %N, the result is accurate only to a second.
    """
    date, before, after = text.rsplit(maxsplit=2)
    found = _DATE.match(date)
    return (float(found[0]) if found else 0.0) - (float(before) + float(after)) / 2
