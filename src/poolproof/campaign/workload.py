"""A workload as written becomes the workloads it stands for: its lists multiply, its preset fills in."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from poolproof.campaign.model import JobSpec, OptionValues, Workload, WorkloadRequest
from poolproof.campaign.names import matrix_name
from poolproof.campaign.presets import presets
from poolproof.metrics import MetricId
from poolproof.units import parse_size

LARGE_BLOCK_BYTES = 64 * 1024
_SEQUENTIAL = ("read", "write", "rw", "readwrite")
_Axis = tuple[str, str]  # job section ("" for all of them) and option


def expand_workload(family: str, request: WorkloadRequest) -> tuple[Workload, ...]:
    """Every workload of the matrix, in the order of its lists, the last list varying fastest.

    A list inside one job section varies as `section.option`. The preset and the sections that the request names must
    exist; the readers see to that.
    """
    axes = tuple(_axes(request))
    return tuple(
        _workload(family, request, dict(zip((axis for axis, _ in axes), chosen, strict=True)))
        for chosen in itertools.product(*(values for _, values in axes))
    )


def count_cells(request: WorkloadRequest) -> int:
    """How many workloads the request stands for."""
    count = 1
    for _, values in _axes(request):
        count *= len(values)
    return count


def default_metric(jobs: Sequence[JobSpec]) -> MetricId:
    """`bandwidth` where every job moves blocks of 64 KiB or more in sequence, `iops` otherwise."""
    return "bandwidth" if all(_streams(dict(job.options)) for job in jobs) else "iops"


def _axes(request: WorkloadRequest) -> Iterator[tuple[_Axis, tuple[str, ...]]]:
    for section, options in (("", request.options), *request.jobs):
        for key, values in options:
            if len(values) > 1:
                yield (section, key), values


def _workload(family: str, request: WorkloadRequest, chosen: Mapping[_Axis, str]) -> Workload:
    varies = tuple((f"{section}.{key}" if section else key, value) for (section, key), value in chosen.items())
    jobs = _jobs(family, request, chosen)
    return Workload(
        name=matrix_name(family, varies),
        family=family,
        jobs=jobs,
        metric=request.metric or (presets()[request.preset].metric if request.preset else default_metric(jobs)),
        varies=varies,
        cold=request.cold,
        fill=request.fill,
        request=request,
    )


def _jobs(family: str, request: WorkloadRequest, chosen: Mapping[_Axis, str]) -> tuple[JobSpec, ...]:
    """The preset's options, over them those for all sections, over them those of the section."""
    common = _picked("", request.options, chosen)
    own = {section: _picked(section, options, chosen) for section, options in request.jobs}
    return tuple(
        JobSpec(job.name, tuple({**dict(job.options), **common, **own.get(job.name, {})}.items()))
        for job in _sections(family, request)
    )


def _sections(family: str, request: WorkloadRequest) -> Sequence[JobSpec]:
    if request.preset:
        return presets()[request.preset].jobs
    return [JobSpec(name, ()) for name, _ in request.jobs] or [JobSpec(family, ())]


def _picked(section: str, options: OptionValues, chosen: Mapping[_Axis, str]) -> dict[str, str]:
    return {key: chosen.get((section, key), values[0]) for key, values in options}


def _streams(options: Mapping[str, str]) -> bool:
    direction = options.get("rw", options.get("readwrite", "read")).split(":")[0]
    block = _smallest_block(options.get("bs", options.get("blocksize", "4k")))
    return direction in _SEQUENTIAL and "bssplit" not in options and block >= LARGE_BLOCK_BYTES


def _smallest_block(text: str) -> int:
    """Bytes of the smallest block in fio's `bs`, which may hold commas and ranges; 0 where it cannot be read."""
    try:
        return min(parse_size(part) for part in re.split(r"[,-]", text) if part)
    except (ValueError, OverflowError):
        return 0
