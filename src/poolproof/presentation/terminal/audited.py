"""Format audit results: each result's location, values and verdict, the reasons for the verdict, and advice."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from poolproof.foreign.audit.model import Audited, AuditedMetrics
from poolproof.load.merge import percentile
from poolproof.load.outcome import Direction
from poolproof.metrics import metric_of
from poolproof.presentation.terminal.visible import visible_line
from poolproof.presentation.terminal.words import MARKS, STYLES
from poolproof.units import format_count, format_duration, format_number_of, format_rate, format_size
from poolproof.verdicts import WORST_FIRST

_LONGEST_COMMAND = 400
_COLOURS = {"green": "32", "yellow": "33", "red": "31", "bright_black": "90"}
_EFFECTS = {
    "fails": "failed",
    "refutes": "refuted",
    "suspects": "suspect",
    "leaves-unproven": "unproven",
    "notes": "note",
}


def audited_lines(audited: Audited, width: int, *, colour: bool = False) -> Iterator[str]:
    """Yield the lines for one result, wrapped at `width`.

    Commands are not wrapped, so that they can be copied. Control characters are escaped, so that the lines can be
    printed safely on a terminal.
    """
    place, *facts = map(visible_line, (f"{audited.source}:{audited.line}", *_facts(audited, width)))
    mark = f"{MARKS[audited.verdict]} {audited.verdict}"
    painted = f"\x1b[{_COLOURS[STYLES[audited.verdict]]}m{mark}\x1b[0m" if colour else mark
    job = visible_line(audited.job or "a result")
    yield f"{place}: {painted}: {job}: {figures_text(audited.figures)}"
    yield from facts


def _facts(audited: Audited, width: int) -> Iterator[str]:
    if audited.command:
        command = " ".join(audited.command.split())
        line = audited.command_line
        assumed = "assumed job file" if line is None else f"assumed command (line {line})"
        made_by = assumed if audited.is_assumed else "made by"
        yield f"  {made_by}: {command[:_LONGEST_COMMAND]}{' …' if len(command) > _LONGEST_COMMAND else ''}"
    if audited.has_changed:
        yield f"  changed: the verdict was {audited.was} when the run was measured"
    for metric, verdict in audited.verdicts.items():
        if audited.verdicts.get(metric_of(metric).of_both or "") == verdict and not audited.is_mixed:
            continue
        yield f"  {metric_of(metric).title}: {verdict}"
    for finding in audited.findings:
        yield from _wrapped(f"  {_EFFECTS[finding.effect]}: ", f"{finding.message} [{finding.rule}]", width)
        if finding.effect != "notes":
            yield from _wrapped("    fix: ", finding.fix, width)
    for fact in audited.known:
        yield from _wrapped("  known: ", fact, width)
    if audited.missing:
        yield from _wrapped("  not known: ", "; ".join(audited.missing), width)
    if (estimate := audited.estimate) is not None:
        low, high = format_rate(estimate.low_bytes_per_s), format_rate(estimate.high_bytes_per_s)
        span = f"{low} to {high}" if estimate.low_bytes_per_s else f"at most {high}"
        yield from _wrapped("  true rate: ", f"{f'about {high}' if low == high else span}: {estimate.why}", width)
    if audited.rerun and audited.verdict != "sound":
        line = audited.command_line
        made = "this job file" if line is None else f"the command on line {line}"
        notes = [f"if {made} produced this result"] if audited.is_assumed else []
        notes += [f"this overwrites {', '.join(audited.overwrites)}"] if audited.overwrites else []
        notes += ["this also runs a program or code that the job names"] if audited.rerun_runs_code else []
        said = f" ({'; '.join(notes)})" if notes else ""
        yield f"  run again{said}: {audited.rerun}"
    if audited.proof:
        yield f"  to prove it: {audited.proof}"


def summary_line(results: Sequence[Audited]) -> str:
    """Return the number of results per verdict as text, for example `19 results: 7 refuted, 8 suspect`.

    The text also mentions the number of verdicts that have changed since the measurement.
    """
    counts = Counter(audited.verdict for audited in results)
    parts = [f"{counts[verdict]} {verdict}" for verdict in WORST_FIRST if counts[verdict]]
    changed = sum(audited.has_changed for audited in results)
    since = f"; {format_number_of(changed, 'verdict')} changed since the measurement" if changed else ""
    return f"{format_number_of(len(results), 'result')}: {', '.join(parts) or 'none'}{since}"


def figures_text(figures: AuditedMetrics) -> str:
    """Format the known values, for example `read 25.6 GB/s, 24.4k IOPS, 800 GiB in 33.5 s`."""
    known = {name: words for name, part in figures.directions.items() if (words := _direction(part))}
    known = known or dict.fromkeys(figures.directions, "at an unknown rate")
    parts = [f"{'' if name == 'mixed' else name + ' '}{words}" for name, words in known.items()]
    sync = percentile(figures.sync, 99.0) if figures.sync else None
    parts += [f"sync p99 {format_duration(sync / 1e9)}"] if sync is not None else []
    return "; ".join(parts) or "no values"


def _direction(part: Direction) -> str:
    words = []
    if part.bandwidth_bytes is not None:
        words.append(format_rate(part.bandwidth_bytes))
    if part.iops is not None:
        words.append(f"{format_count(part.iops)} IOPS")
    if part.io_bytes is not None and part.runtime_ms:
        words.append(f"{format_size(part.io_bytes)} in {format_duration(part.runtime_ms / 1000)}")
    if part.bandwidth_mean_bytes is not None and not words:
        words.append(f"{format_rate(part.bandwidth_mean_bytes)}, the mean of fio's samples")
    elif part.iops_mean is not None and not words:
        words.append(f"{format_count(part.iops_mean)} IOPS, the mean of fio's samples")
    latency = part.clat or part.lat
    if latency is not None and latency.mean_ns is not None and not words:
        words.append(f"mean latency {format_duration(latency.mean_ns / 1e9)}")
    return ", ".join(words)


def _wrapped(head: str, text: str, width: int) -> list[str]:
    indent = " " * (len(head) - len(head.lstrip()) + 2)
    return textwrap.wrap(
        head + text, max(width, 40), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
