"""Streaming files from the far end: one shell loop there, its lines made into ticks here.

The loop reads with the shell's own `read`, so that a tick costs the host no process but the `sleep` between two: what
measures must not disturb. `date` is asked once; from then on the clock is /proc/uptime (10 ms).
"""

import re
from collections.abc import Iterator, Sequence

from poolproof.hosts.base import Tick

_LOOP = r"""
pause=$1; shift
line_end="
"
read -r up _ </proc/uptime
echo "c$(date +%s.%N) $up"
while :; do
    read -r up _ </proc/uptime
    text="t$up$line_end"
    for file; do
        text="${text}f$line_end" line=
        while IFS= read -r line; do text="$text $line$line_end"; done <"$file"
        [ -z "$line" ] || text="$text+$line$line_end"
    done
    printf %s "${text}e$line_end"
    sleep "$pause"
done 2>/dev/null
"""
_DATE = re.compile(r"\d+(?:\.\d+)?")


def loop(paths: Sequence[str], interval_s: float) -> tuple[str, ...]:
    """The program that prints the files' contents again and again."""
    return ("sh", "-c", _LOOP, "sh", f"{interval_s:g}", *paths)


def ticks(lines: Iterator[str], mark: str) -> Iterator[Tick]:
    """The ticks in the lines that come from there after the mark; a tick that was cut off is left out."""
    zero_s, at_s, texts = 0.0, 0.0, list[str]()
    for line in _after(lines, mark):
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
    """When the host started, in seconds since 1970. A `date` that knows no %N makes it good to a second only."""
    date, _, uptime = text.rpartition(" ")
    found = _DATE.match(date)
    return (float(found[0]) if found else 0.0) - float(uptime)
