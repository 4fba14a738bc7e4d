"""Write a campaign as YAML for `--save`, in a form that `parse_campaign` can parse."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby

from poolproof.campaign.expression import format_expression
from poolproof.campaign.model import (
    Campaign,
    DeviceSource,
    Disk,
    Emulated,
    Layout,
    LoopFile,
    Measure,
    OptionValues,
    Workload,
    WorkloadRequest,
)
from poolproof.units import canonical_size


def format_campaign(campaign: Campaign) -> str:
    """Format the campaign as YAML. Matrices keep their braces and lists, and presets are written by name.

    If the campaign was read from a file or from options, `parse_campaign` returns an equal campaign.
    """
    return "\n".join(_lines(campaign)) + "\n"


def _lines(campaign: Campaign) -> Iterator[str]:
    yield f"name: {scalar(campaign.name)}"
    if campaign.question:
        yield f"question: {scalar(campaign.question)}"
    yield from _block("devices", ((device.name, format_source(device.source)) for device in campaign.devices))
    layouts = groupby(campaign.layouts, lambda layout: layout.name.partition("[")[0])
    yield from _block("layouts", ((name, _layout(next(members))) for name, members in layouts))
    workloads = groupby(campaign.workloads, lambda workload: workload.family)
    yield from _block("workloads", ((name, _request(_request_of(next(members)))) for name, members in workloads))
    yield f"measure: {_measure(campaign.measure, Measure())}"
    for key, value in (("baseline", campaign.baseline), ("goal", campaign.goal)):
        if value is not None:
            yield f"{key}: {scalar(value)}"
    if campaign.budget_s is not None:
        yield f"budget: {_seconds(campaign.budget_s)}"
    if campaign.quick is not None:
        changed = [(name, _mapping(_options(changes))) for name, changes in campaign.quick.workloads]
        quick = [("workloads", _mapping(changed))] if changed else []
        yield f"quick: {_mapping([*quick, ('measure', _measure(campaign.quick.measure, campaign.measure))])}"
    if campaign.expect:
        yield "expect:"
    for claim in campaign.expect:
        parts = (("claim", claim.claim), ("source", claim.source), ("that", claim.text))
        yield f"  - {_mapping((key, scalar(text)) for key, text in parts)}"


def _block(key: str, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = [f"  {scalar(name)}: {value}" for name, value in entries]
    return iter([f"{key}:", *lines] if lines else [])


def _layout(layout: Layout) -> str:
    """Return the layout's expression on one line, as the user wrote it or, without a source, in canonical form."""
    return scalar(" ".join(layout.expression.text.split("\n")) or format_expression(layout.expression))


def _request_of(workload: Workload) -> WorkloadRequest:
    if workload.request is not None:
        return workload.request
    jobs = tuple((job.name, tuple((key, (value,)) for key, value in job.options)) for job in workload.jobs)
    if len(jobs) == 1 and jobs[0][0] == workload.family:
        return WorkloadRequest(None, jobs[0][1], (), workload.metric, workload.cold, workload.fill)
    return WorkloadRequest(None, (), jobs, workload.metric, workload.cold, workload.fill)


def _request(request: WorkloadRequest) -> str:
    if request == WorkloadRequest(preset=request.preset) and request.preset:
        return scalar(request.preset)
    entries = [("preset", scalar(request.preset))] if request.preset else []
    entries += _options(request.options)
    if request.jobs:
        entries.append(("jobs", _mapping((name, _mapping(_options(options))) for name, options in request.jobs)))
    if request.metric:
        entries.append(("metric", request.metric))
    if request.cold is not None:
        entries.append(("cold", _flag(request.cold)))
    if not request.fill:
        entries.append(("fill", _flag(request.fill)))
    return _mapping(entries)


def _options(options: OptionValues) -> list[tuple[str, str]]:
    return [
        (key, scalar(values[0]) if len(values) == 1 else f"[{', '.join(map(scalar, values))}]")
        for key, values in options
    ]


def _measure(measure: Measure, default: Measure) -> str:
    entries, until = [("time", _seconds(measure.time_s))], measure.until
    if until is not None:
        entries = [
            ("until", _percent(until.tolerance)),
            ("confidence", _percent(until.confidence)),
            ("min", _seconds(until.min_s)),
            ("max", _seconds(until.max_s)),
            ("steady", until.steady),
        ]
    most = "" if measure.most_trials is None else f"..{measure.most_trials}"
    if measure.builds != default.builds:
        entries.append(("builds", str(measure.builds)))
    entries += [
        ("trials", f"{measure.trials}{most}"),
        ("cold", measure.cold if measure.cold == "reads" else _flag(measure.cold)),
    ]
    if measure.seed is not None:
        entries.append(("seed", str(measure.seed)))
    if measure.calibrate != default.calibrate:
        entries.append(("calibrate", _flag(measure.calibrate)))
    return _mapping(entries)


def _percent(share: float) -> str:
    """Format a fraction as a percentage, exactly and without rounding."""
    return f"{(Decimal(repr(share)) * 100).normalize():f}%"


def _seconds(time_s: float) -> str:
    """Format a duration exactly and without an exponent, which durations in a campaign cannot have."""
    return f"{Decimal(repr(time_s)):f}".removesuffix(".0") + "s"


def _mapping(entries: Iterable[tuple[str, str]]) -> str:
    return f"{{{', '.join(f'{scalar(key)}: {value}' for key, value in entries)}}}"


def _flag(value: bool) -> str:
    return "true" if value else "false"


_SAFE = re.compile(r"[A-Za-z0-9_/.][A-Za-z0-9_/.+%=-]*")
_WORDS = re.compile(r"(?i)true|false|null|~")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\"}


def scalar(text: str) -> str:
    """Format a string as a YAML scalar, in double quotes unless it is safe without them."""
    if _SAFE.fullmatch(text) and not _WORDS.fullmatch(text):
        return text
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if 0x20 <= code < 0x7F:
        return character
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def format_source(source: DeviceSource) -> str:
    """Format a device's source as a one-line YAML mapping."""
    if isinstance(source, Disk):
        return f"{{disk: {scalar(source.identity)}}}"
    size = canonical_size(source.size_bytes)
    if isinstance(source, Emulated):
        return f"{{emulate: {scalar(source.model)}, size: {size}}}"
    return f"{{file: {size}}}" if isinstance(source, LoopFile) else f"{{qcow2: {size}}}"
