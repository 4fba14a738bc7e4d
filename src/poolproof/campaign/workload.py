"""The workloads of a campaign file, each given as the name of a preset or as fio options. Lists form a matrix."""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from poolproof.campaign.document import (
    Node,
    Scalar,
    Spot,
    YamlList,
    YamlMapping,
    describe,
    expect_flag,
    expect_mapping,
    expect_scalar,
)
from poolproof.campaign.model import JobSpec, OptionValues, Workload, WorkloadRequest
from poolproof.campaign.names import NAME_RULE, did_you_mean, is_name, matrix_name
from poolproof.campaign.presets import PRESETS
from poolproof.metrics import COMPARABLE, MetricId, not_comparable
from poolproof.units import parse_size

OWN_KEYS = ("preset", "jobs", "metric", "cold", "fill")
MOST_CELLS = 10_000
MOST_OPTIONS = 2_000_000
"""The maximum number of options in all workloads of a campaign together. Each of them takes about 100 bytes."""

LARGE_BLOCK_BYTES = 64 * 1024
_SEQUENTIAL = ("read", "write", "rw", "readwrite")
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_EXAMPLE = "write the name of a preset, or fio options: {rw: randread, bs: [4k, 16k], iodepth: 8}"
_PRESETS = f"the presets are {', '.join(PRESETS)}"
_Axis = tuple[str, str]  # job section ("" for all of them) and option


class ExpandedSize(NamedTuple):
    """The number of workloads that a request describes, and the number of options in all of their jobs."""

    workloads: int
    options: int


def read_workload(name: Scalar, value: Node) -> WorkloadRequest:
    """Read a workload from a campaign file, given as the name of a preset or as a mapping of options.

    Raises a CampaignError if the name, the preset, the metric, an option or a job section is invalid, if a value has
    the wrong type, or if the matrix has more than MOST_CELLS workloads.
    """
    check_family(name.text, name.spot)
    at_name = ("", str(name.spot))
    if isinstance(value, Scalar) and not value.is_nothing:
        return WorkloadRequest(preset=known_preset(value.text, value.spot), spots=(at_name,))
    table = expect_mapping(value, f"workload `{name.text}`", _EXAMPLE)
    if not table.entries:
        raise table.spot.mistake(f"workload `{name.text}` is empty", _EXAMPLE)
    given = {key.text: node for key, node in table.entries if key.text in OWN_KEYS}
    preset = None
    if "preset" in given:
        scalar = expect_scalar(given["preset"], "the name of a preset", _PRESETS)
        preset = known_preset(scalar.text, scalar.spot)
    options = _options(table, skip=OWN_KEYS)
    jobs = _job_sections(given["jobs"], preset) if "jobs" in given else ()
    metric = None
    if "metric" in given:
        metric = known_metric(expect_scalar(given["metric"], "a metric", "write metric: p99"))
    request = WorkloadRequest(
        preset,
        options,
        jobs,
        metric,
        cold=expect_flag(given["cold"], "cold") if "cold" in given else None,
        fill=expect_flag(given["fill"], "fill") if "fill" in given else True,
        spots=(at_name, *_spots(table)),
    )
    return check_size(request, name.spot)


def check_family(name: str, spot: Spot) -> None:
    """Raise a CampaignError if the name is not a valid workload name."""
    if not is_name(name) or name == "global":
        raise spot.mistake(f"`{name}` is not a valid workload name", f"use {NAME_RULE}; `global` is reserved by fio")


def known_preset(name: str, spot: Spot) -> str:
    """Return the name unchanged if it is the name of a preset. Otherwise, raise a CampaignError."""
    if name in PRESETS:
        return name
    guess = did_you_mean(name, PRESETS)
    raise spot.mistake(f"there is no preset `{name[:60]}`{guess}", f"{_PRESETS}; {_EXAMPLE}")


def known_metric(value: Scalar) -> MetricId:
    """Return the metric with this name, or raise a CampaignError if it cannot be used to compare layouts."""
    for metric in COMPARABLE:
        if metric == value.text:
            return metric
    guess = did_you_mean(value.text, COMPARABLE)
    raise value.spot.mistake(
        f"{not_comparable(value.text[:60])}{guess}", f"use one of these metrics: {', '.join(COMPARABLE)}"
    )


def check_size(request: WorkloadRequest, spot: Spot) -> WorkloadRequest:
    """Return the request unchanged.

    Raises a CampaignError if its lists describe more than MOST_CELLS workloads, or if these have too many options.
    """
    size = expanded_size(request)
    if size.workloads > MOST_CELLS:
        raise spot.mistake(f"the lists expand to more than {MOST_CELLS} workloads", "shorten one of the lists")
    if size.options > MOST_OPTIONS:
        raise spot.mistake(f"the lists expand to more than {MOST_OPTIONS} options", "shorten one of the lists")
    return request


def expanded_size(request: WorkloadRequest) -> ExpandedSize:
    """Return the number of workloads that a request describes, and of the options of their jobs, without presets."""
    workloads = math.prod(len(values) for _, values in _axes(request))
    own = sum(len(options) for _, options in request.jobs)
    sections = max(1, len(request.jobs), len(PRESETS[request.preset].jobs) if request.preset else 0)
    return ExpandedSize(workloads, workloads * (sections * len(request.options) + own))


def read_options(table: YamlMapping, where: str) -> OptionValues:
    """Read a mapping whose keys are fio options and whose values are single values or lists.

    `where`: the mapping's name in error messages.

    Raises a CampaignError if a key cannot be the name of a fio option, a list is empty or repeats a value, or a value
    is empty or contains a control character.
    """
    for key, _ in table.entries:
        if key.text in OWN_KEYS:
            raise key.spot.mistake(
                f"`{key.text}` is not allowed in {where}", "only fio options are allowed here, for example bs: 4k"
            )
    return _options(table)


def option_text(value: Scalar, key: str) -> str:
    """Return a fio option's value in fio's own syntax: 1 or 0 for a boolean, and any other value unchanged.

    Raises a CampaignError if the value is empty or contains a control character.
    """
    if value.as_flag is not None:
        return "1" if value.as_flag else "0"
    if value.is_nothing or not value.text.strip():
        raise value.spot.mistake(f"`{key}` has no value", f"write {key}: VALUE")
    if _CONTROL.search(value.text):
        raise value.spot.mistake(
            f"the value of `{key}` contains a line break or a control character", "write it on one line"
        )
    return value.text


def check_option_name(key: Scalar) -> None:
    """Raise a CampaignError if the key cannot be the name of a fio option. fio may still not have the option."""
    if not _OPTION.fullmatch(key.text):
        raise key.spot.mistake(
            f"`{key.text[:60]}` is not the name of a fio option", "to list the options: fio --cmdhelp=all"
        )


def expand_workload(family: str, request: WorkloadRequest) -> tuple[Workload, ...]:
    """Expand a request into all workloads of its matrix. The last list varies fastest.

    In `varies`, an option of a single job section is named `section.option`. The preset and the job sections must
    exist, which is checked when the request is read.
    """
    axes = tuple(_axes(request))
    return tuple(
        _workload(family, request, dict(zip((axis for axis, _ in axes), chosen, strict=True)))
        for chosen in itertools.product(*(values for _, values in axes))
    )


def default_metric(jobs: Sequence[JobSpec]) -> MetricId:
    """Return `bandwidth` if every job is sequential and uses large blocks or the page cache, otherwise `iops`.

    Large blocks are those of at least 64 KiB. For small sequential I/Os through the page cache, IOPS do not describe
    the disks, because the kernel merges the I/Os. Jobs with `fsync`, `fdatasync` or `sync` do not count as using the
    page cache.
    """
    options = [dict(job.options) for job in jobs]
    return "bandwidth" if all(_streams(each) or _merges(each) for each in options) else "iops"


def _merges(options: Mapping[str, str]) -> bool:
    """True if the job is sequential and buffered, and uses none of `fsync`, `fdatasync` and `sync`."""
    direction = options.get("rw", options.get("readwrite", "read")).split(":")[0]
    is_buffered = options.get("direct") == "0" or options.get("buffered") == "1"
    syncs = any(options.get(name, "0") not in ("0", "none") for name in ("fsync", "fdatasync", "sync"))
    return direction in _SEQUENTIAL and is_buffered and not syncs


def _spots(table: YamlMapping) -> Iterator[tuple[str, str]]:
    """Yield each option with its location. An option of a job section is named `section.option`."""
    for key, value in table.entries:
        if key.text == "jobs" and isinstance(value, YamlMapping):
            sections = [(name.text, options) for name, options in value.entries if isinstance(options, YamlMapping)]
            yield from ((f"{name}.{spot[0]}", spot[1]) for name, options in sections for spot in _spots(options))
        else:
            yield key.text, str(key.spot)


def _options(table: YamlMapping, skip: tuple[str, ...] = ()) -> OptionValues:
    return tuple((key.text, _values(key, value)) for key, value in table.entries if key.text not in skip)


def _values(key: Scalar, value: Node) -> tuple[str, ...]:
    check_option_name(key)
    name, nodes = key.text, value.values if isinstance(value, YamlList) else (value,)
    if not nodes:
        raise value.spot.mistake(f"the list after `{name}` is empty", f"write {name}: [ONE, TWO], or one value")
    found: list[str] = []
    for node in nodes:
        if not isinstance(node, Scalar):
            message = f"expected one value or a list of values after `{name}`, found {describe(node)}"
            raise node.spot.mistake(message, f"write {name}: [ONE, TWO], or one value")
        found.append(option_text(node, name))
    if len(set(found)) < len(found):
        repeated = next(text for text in found if found.count(text) > 1)
        raise value.spot.mistake(f"`{repeated}` is listed twice after `{name}`", "remove one of them")
    return tuple(found)


def _job_sections(value: Node, preset: str | None) -> tuple[tuple[str, OptionValues], ...]:
    table = expect_mapping(value, "`jobs`", "write jobs: {log: {rw: write}, data: {rw: randread}}")
    if not table.entries:
        raise table.spot.mistake("`jobs` is empty", "add a section: jobs: {log: {rw: write}}")
    for section, _ in table.entries:
        name = section.text
        if not is_name(name) or name == "global":
            raise section.spot.mistake(f"`{name[:60]}` is not a valid name for a job section", f"use {NAME_RULE}")
        known = [job.name for job in PRESETS[preset].jobs] if preset else [name]
        if name not in known:
            message = f"preset `{preset}` has no section `{name}`{did_you_mean(name, known)}"
            raise section.spot.mistake(message, f"its sections are {', '.join(known)}")
    return tuple((section.text, _section(section, options)) for section, options in table.entries)


def _section(section: Scalar, options: Node) -> OptionValues:
    where = f"job section `{section.text}`"
    table = expect_mapping(options, where, f"write {section.text}: {{rw: randread}}")
    for key, _ in table.entries:
        if key.text in OWN_KEYS:
            message = f"`{key.text}` applies to the whole workload and is not allowed in {where}"
            raise key.spot.mistake(message, "move it up, next to `jobs`")
    return _options(table)


def _axes(request: WorkloadRequest) -> Iterator[tuple[_Axis, tuple[str, ...]]]:
    for section, options in (("", request.options), *request.jobs):
        for key, values in options:
            if len(values) > 1:
                yield (section, key), values


def _workload(family: str, request: WorkloadRequest, chosen: Mapping[_Axis, str]) -> Workload:
    varies = tuple((f"{section}.{key}" if section else key, value) for (section, key), value in chosen.items())
    preset = PRESETS[request.preset] if request.preset else None

    def options_of(section: str, options: OptionValues) -> dict[str, str]:
        return {key: chosen.get((section, key), values[0]) for key, values in options}

    base = preset.jobs if preset else [JobSpec(name, ()) for name, _ in request.jobs] or [JobSpec(family, ())]
    # The workload's options override the preset's, and those of a section override both.
    common = options_of("", request.options)
    specific = {section: options_of(section, options) for section, options in request.jobs}
    jobs = tuple(
        JobSpec(job.name, tuple({**dict(job.options), **common, **specific.get(job.name, {})}.items())) for job in base
    )
    return Workload(
        name=matrix_name(family, varies),
        family=family,
        jobs=jobs,
        metric=request.metric or (preset.metric if preset else default_metric(jobs)),
        varies=varies,
        cold=request.cold,
        fill=request.fill,
        request=request,
    )


def directions_of(options: Mapping[str, str]) -> frozenset[str]:
    """Return the kinds of I/O that a job with these options does: `read`, `write`, `trim`."""
    mode = options.get("rw", options.get("readwrite", "read")).split(":")[0].removeprefix("rand")
    mode = {"rw": "readwrite"}.get(mode, mode)
    return frozenset(each for each in ("read", "write", "trim") if each in mode)


def _streams(options: Mapping[str, str]) -> bool:
    direction = options.get("rw", options.get("readwrite", "read")).split(":")[0]
    if direction not in _SEQUENTIAL or "bssplit" in options:
        return False
    blocks = options.get("bs", options.get("blocksize", "4k"))  # fio also allows commas and ranges here
    try:
        return min(parse_size(part) for part in re.split(r"[,-]", blocks) if part) >= LARGE_BLOCK_BYTES
    except ValueError:
        return False
