"""Results in one line of output that contradict each other."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reported import ReportedDirection, each_part
from poolproof.rules.reproduction import script
from poolproof.units import format_duration, format_rate, format_size

_ROUNDING = 0.05
_UNIT_BYTES_PER_S = 1024  # old versions of fio print whole KiB/s
_SHORTEST_MS = 100  # below this, a runtime in whole milliseconds is too coarse


def _in_result(case: Case) -> Iterable[Finding]:
    return each_part(case.outcome, _of_part)


def _of_part(part: ReportedDirection) -> Finding | None:
    figures = part.figures
    moved, ran_ms, stated = figures.io_bytes, figures.runtime_ms, figures.bandwidth_bytes
    if not moved or not ran_ms or stated is None or ran_ms < _SHORTEST_MS:
        return None
    worked_out = 1000 * moved / ran_ms
    if abs(worked_out - stated) <= _ROUNDING * max(worked_out, stated) + _UNIT_BYTES_PER_S:
        return None
    return Finding(
        rule="figures-disagree",
        effect="suspects",
        message=f"{part.name}: {format_size(moved)} in {format_duration(ran_ms / 1000)} is {format_rate(worked_out)}, "
        f"but the reported rate is {format_rate(stated)}: one of the three is wrong",
        fix="ask for fio's own output, or run it again with --output-format=json+",
        weight=75,
    )


RULE = Rule(
    id="figures-disagree",
    title="Results that contradict each other",
    wrong="fio computes its rate as bytes over runtime. If the three don't agree, they were copied by hand, mixed "
    "from several runs, or changed.",
    shows="In a result: bytes over runtime and the rate differ by more than 5 %, which rounding can't explain.",
    error="Too high or too low.",
    fix="Quote fio's complete output.",
    sources=("fio's stat.c, show_ddir_status: bw = 1000 * io_bytes / runtime",),
    pitfall_numbers="A11",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=1m --size=64m --end_fsync=1 | sed 's/BW=[^ ]*/BW=9999MiB\\/s/'"
    ),
)
