"""Recognize fragments of fio output that are not results of their own.

People who explain fio's output quote each of its lines with remarks in between.
"""

from collections.abc import Iterator, Sequence

from poolproof.load.fio.pairing import FoundResult
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_Mean = tuple[str, float]
"""The kind of a mean (`clat`, `bandwidth`) and its value."""


def _is_fragment(result: Outcome) -> bool:
    """True if a result is a part without a name, or the totals of a group without its jobs."""
    return len(result.parts) == 1 and (not result.parts[0].name or result.parts[0].name.startswith("group "))


def shows_values(result: Outcome) -> bool:
    """True if a result is more than a quoted line with only the time of submission, or with only percentiles."""
    return any(result.groups.values()) or any(map(_shows_values, result.parts))


def _shows_values(part: PartOutcome) -> bool:
    return bool(part.name or part.error or part.sync or part.job_runtime_ms) or any(
        _has_rate(values) or any(kind != "slat" for kind, _ in _means(values)) for values in part.directions.values()
    )


def without_lone_latencies(found: Sequence[FoundResult]) -> list[FoundResult]:
    """Return the results in line order, without fragments that show latencies or samples of a result with a rate.

    Such a fragment repeats the means of another result, or the result above it is a quoted rate without latencies. A
    single line with a mean latency is left out, too, if the text contains other results: neither its direction nor its
    job is known.
    """
    whole = [each for each in found if not _is_single_latency(each.result)]
    return _without_repeated_latencies(whole or found)


def _is_single_latency(result: Outcome) -> bool:
    """True if a fragment shows only one mean latency, without percentiles and without a direction."""
    values = result.parts[0].mixed if len(result.parts) == 1 else None
    if values is None or not _is_fragment(result) or result.parts[0].latency_shares or any(result.groups.values()):
        return False
    latencies = [latency for latency in (values.slat, values.clat, values.lat) if latency is not None]
    has_samples = values.bandwidth_mean_bytes is not None or values.iops_mean is not None
    is_alone = len(latencies) == 1 and not latencies[0].percentiles_ns
    return is_alone and not has_samples and not _has_rate(values)


def _without_repeated_latencies(found: Sequence[FoundResult]) -> list[FoundResult]:
    owners: dict[_Mean, set[int]] = {}
    rated = (values for each in found for part in each.result.parts for values in part.directions.values())
    for at, values in enumerate(filter(_has_rate, rated)):
        for mean in _means(values):
            owners.setdefault(mean, set()).add(at)
    kept: list[FoundResult] = []
    for each in found:
        means = _lone_means(each.result)
        is_repeated = bool(means) and bool(set.intersection(*(owners.get(mean, set()) for mean in means)))
        if not is_repeated and not (means and kept and _is_rate_alone(kept[-1].result)):
            kept.append(each)
    return kept


def _lone_means(result: Outcome) -> list[_Mean]:
    """Return the means of a fragment without a rate, or an empty list for other results."""
    is_lone = _is_fragment(result) and not any(result.groups.values())
    directions = list(result.parts[0].directions.values()) if is_lone else []
    return list(_means(directions[0])) if len(directions) == 1 and not _has_rate(directions[0]) else []


def _is_rate_alone(result: Outcome) -> bool:
    return _is_fragment(result) and all(
        _has_rate(values) and values.clat is None and values.lat is None
        for values in result.parts[0].directions.values()
    )


def _has_rate(values: Direction) -> bool:
    return any(value is not None for value in (values.io_bytes, values.bandwidth_bytes, values.iops))


def _means(values: Direction) -> Iterator[_Mean]:
    for kind, latency in (("slat", values.slat), ("clat", values.clat), ("lat", values.lat)):
        if latency is not None and latency.mean_ns is not None:
            yield kind, latency.mean_ns
    for kind, mean in (("bandwidth", values.bandwidth_mean_bytes), ("iops", values.iops_mean)):
        if mean is not None:
            yield kind, mean
