"""Values on one line of fio's output that contradict each other."""

from poolproof.rules.model import Case, Finding, Rule, fio_source, suspects
from poolproof.rules.reported import ReportedDirection, each_part, largest_printed_as
from poolproof.units import format_duration, format_rate, format_size

_ROUNDING = 0.05
_UNIT_BYTES_PER_S = 1024  # old versions of fio print whole KiB/s
_SHORTEST_MS = 100  # a shorter runtime is too inexact in whole milliseconds


def _in_part(_case: Case, part: ReportedDirection) -> Finding | None:
    moved, ran_ms, reported = part.figures.io_bytes, part.figures.runtime_ms, part.figures.bandwidth_bytes
    if not moved or not ran_ms or reported is None or ran_ms < _SHORTEST_MS:
        return None
    computed = 1000 * moved / ran_ms
    rates = (computed, 1000 * largest_printed_as(moved) / ran_ms)
    if any(abs(rate - reported) <= _ROUNDING * max(rate, reported) + _UNIT_BYTES_PER_S for rate in rates):
        return None
    return suspects(
        f"{part.name}: {format_size(moved)} in {format_duration(ran_ms / 1000)} is {format_rate(computed)}, but the "
        f"reported rate is {format_rate(reported)}: one of these three values is wrong",
        weight=75,
    )


RULE = Rule(
    title="Results that contradict each other",
    wrong=(
        "fio computes the rate as bytes divided by runtime. If the three values do not match, they were copied by "
        "hand, taken from different runs, or changed."
    ),
    shows="In a result: the rate differs from bytes / runtime by more than 5%, which rounding cannot explain.",
    error="Too high or too low.",
    fix="ask for fio's own output, or run the job again with --output-format=json+",
    sources=(
        fio_source("3.42", "stat.c", "show_ddir_status (bw = 1000 * io_bytes / runtime)"),
        fio_source("3.42", "lib/num2str.c", "num2str (prints only the decimals of a fraction that is rounded up to 1)"),
        fio_source("3.42", "stat.c", "sum_thread_stats (a group runs as long as its longest job)"),
    ),
    in_result=each_part(_in_part),
    commands="fio --rw=write --bs=1m --size=64m --end_fsync=1 | sed 's/BW=[^ ]*/BW=9999MiB\\/s/'",
)
