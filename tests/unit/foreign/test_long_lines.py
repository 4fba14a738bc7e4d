"""Every regular expression that is applied to other people's texts takes linear time, even on long lines."""

import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator, Sequence
from types import ModuleType

import pytest

import poolproof.foreign
import poolproof.load.fio
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.tables.table_repeats import without_repeated_rows
from poolproof.foreign.audit.tables.tables import find_tables
from poolproof.foreign.audit.texts import audit_text

LENGTH = 20_000
RUNS = [unit * (LENGTH // len(unit)) for unit in (*"a9 \n.-#/", "0x")]
LONGEST_S = 0.1  # a pattern of quadratic time takes 0.3 s to 3 s
SLOW_S = 0.06
LONG_TEXT_S = 2.0


class TooSlow(Exception):
    """Raised if a pattern takes longer than LONGEST_S."""


def patterns() -> dict[str, re.Pattern[str]]:
    """Return all regular expressions at module level in `foreign` and `load.fio`, keyed by their full name."""
    found: dict[str, re.Pattern[str]] = {}
    for package in (poolproof.foreign, poolproof.load.fio):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            found.update(_patterns_in(importlib.import_module(module.name)))
    return found


def _patterns_in(module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, value in vars(module).items():
        for at, pattern in enumerate(_flat(value)):
            yield f"{module.__name__}.{name}[{at}]", pattern


def _flat(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict):
        yield from _flat(tuple(value.values()))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for each in value:
            yield from _flat(each)


def seconds_of(pattern: re.Pattern[str], text: str) -> float:
    """Return the CPU time, in seconds, for matching and searching the text.

    If the search had to be stopped, the result is at least LONGEST_S.
    """

    def stop(_signal: int, _frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_S)
    try:
        pattern.match(text)
        pattern.search(text)
    except TooSlow:
        return LONGEST_S + time.process_time() - start
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - start


def test_every_pattern_reads_a_line_of_20000_characters_in_linear_time() -> None:
    unique = {(pattern.pattern, pattern.flags): (name, pattern) for name, pattern in patterns().items()}
    assert len(unique) > 250
    slow = [
        f"{name} on {run[:4]!r}"
        for name, pattern in unique.values()
        for run in RUNS
        if seconds_of(pattern, run) > SLOW_S and min(seconds_of(pattern, run) for _ in range(2)) > SLOW_S
    ]
    assert not slow


@pytest.mark.parametrize("unit", ["a", "9", " ", "\t", "#", "/", "0x", "1."])
def test_audit_skips_long_lines(unit: str) -> None:
    line = "write: IOPS=5000, BW=19.5MiB/s (20.5MB/s)(1172MiB/60001msec); 0 zone resets"
    audited = audit_text("post", f"fio-3.33\n{unit * 5000}\n  {line}\n", Context())
    assert len(audited) == 1


def test_audit_reads_a_long_text_without_results_in_linear_time() -> None:
    """Each `Read` looks like the header of a table with the rest of the text. This once took over a minute."""
    lines = ["Read", "a rate"] * 3000 + ["Read | Write", "a | b"] * 500
    start = time.process_time()
    assert audit_text("post", "\n".join(lines), Context()) == ()
    assert time.process_time() - start < LONG_TEXT_S


@pytest.mark.parametrize(
    "table", ["| a | b | IOPS |\n|---|---|---|\n| x | 1 | 2 |\n", "IOPS\tread\twrite\n" + "1\t2\t3\n" * 3]
)
def test_many_tables_are_read_in_linear_time(table: str) -> None:
    """The jobs of the text were once read for each table, and the rows of each table up to the end of the text."""
    start = time.process_time()
    audit_text("post", table * 500, Context())
    assert time.process_time() - start < LONG_TEXT_S


def test_repeated_rows_are_found_in_a_time_that_does_not_grow_with_the_square_of_the_rows() -> None:
    def table(first: int) -> str:
        rows = (f"| read | {first + number} | {100 + number} MB/s |" for number in range(3000))
        return "\n".join(["| rw | IOPS | BW |", "|---|---|---|", *rows])

    rows, others = find_tables(table(10_000)), find_tables(table(50_000))
    assert len(rows) == len(others) == 3000
    start = time.process_time()
    assert len(without_repeated_rows(rows, others)) == len(rows)
    assert len(without_repeated_rows(rows, rows)) == 0
    assert time.process_time() - start < LONG_TEXT_S
