"""Streaming files from the far end: one shell loop there, its lines made into ticks here.

The loop reads with the shell's own `read`, so that a tick costs the host no process but the `sleep` between two: what
measures must not disturb. `date` is asked once; from then on the clock is /proc/uptime (10 ms).
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence

from poolproof.hosts.base import Tick

# Sets `text` to the contents of the files named by the arguments, with the moment; `up` is that of the first reading.
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
"""Functions of the shell: one tells the host's clock, the other the contents of files at one moment."""
_DATE = re.compile(r"\d+(?:\.\d+)?")


def loop(paths: Sequence[str], interval_s: float) -> tuple[str, ...]:
    """The program that prints the files' contents again and again."""
    return ("sh", "-c", _LOOP, "sh", f"{interval_s:g}", *paths)


def ticks(lines: Iterator[str], mark: str) -> Iterator[Tick]:
    """The ticks in the lines that come from there after the mark; a tick that was cut off is left out."""
    yield from _ticks(_after(lines, mark), 0.0)


def tick(text: str, zero_s: float) -> Tick | None:
    """The tick that `pp_texts` told; `zero_s`: when the host started, unless the clock was told before it."""
    return next(_ticks(io.StringIO(text, newline="\n"), zero_s), None)


def clock(text: str) -> float | None:
    """When the host started, in seconds since 1970, where its clock was told."""
    first = text.partition("\n")[0]
    return _zero_of_uptime(first[1:]) if first.startswith("c") else None


def _ticks(lines: Iterable[str], zero_s: float) -> Iterator[Tick]:
    at_s, texts = 0.0, list[str]()
    for line in lines:
        kind, rest = line[:1], line[1:]
        match kind:
            case "c":
                zero_s = _zero_of_uptime(rest)
            case "t":
                at_s, texts = zero_s + float(rest), []
            case "f":
                texts.append("")
            case " ":
                texts[-1] += rest
            case "+":
                texts[-1] += rest.removesuffix("\n")
            case "e":
                yield Tick(at_s, tuple(texts))


def _after(lines: Iterator[str], mark: str) -> Iterator[str]:
    for line in lines:
        if line.rstrip("\n").endswith(mark):
            yield from lines


def _zero_of_uptime(text: str) -> float:
    """When the host started, in seconds since 1970: `date` ran in the middle between two readings of the uptime.

    A `date` that knows no %N makes it good to a second only.
    """
    date, before, after = text.rsplit(maxsplit=2)
    found = _DATE.match(date)
    return (float(found[0]) if found else 0.0) - (float(before) + float(after)) / 2
