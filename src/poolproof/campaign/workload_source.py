"""Workloads as they are written in a campaign file: a preset's name, or fio's options with lists and sections."""

import re
from collections.abc import Iterator
from dataclasses import replace

from poolproof.campaign.document import (
    Items,
    Node,
    Scalar,
    Spot,
    YamlMapping,
    describe,
    expect_flag,
    expect_scalar,
    expect_table,
)
from poolproof.campaign.model import OptionValues, WorkloadRequest
from poolproof.campaign.names import NAME_RULE, is_name
from poolproof.campaign.nearest import did_you_mean, listed
from poolproof.campaign.presets import presets
from poolproof.campaign.workload import count_cells
from poolproof.metrics import COMPARABLE, MetricId

OWN_KEYS = ("preset", "jobs", "metric", "cold", "fill")
MOST_CELLS = 10_000
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_EXAMPLE = "write a preset's name, or fio options: {rw: randread, bs: [4k, 16k], iodepth: 8}"


def read_workload(name: Scalar, value: Node) -> WorkloadRequest:
    """A workload of a campaign file: `etcd`, or a mapping.

    Raises:
        CampaignError: an unknown preset or metric, a value of a wrong type, a matrix of more than MOST_CELLS.
    """
    check_family(name.text, name.spot)
    if isinstance(value, Scalar) and not value.is_nothing:
        return WorkloadRequest(preset=known_preset(value.text, value.spot), spots=(("", str(name.spot)),))
    table = expect_table(value, f"workload `{name.text}`", _EXAMPLE)
    request = _from_table(name.text, table)
    return check_size(replace(request, spots=(("", str(name.spot)), *_spots(table))), name.spot)


def check_family(name: str, spot: Spot) -> None:
    """Return when the name can be that of a workload, or of a matrix of them.

    Raises:
        CampaignError: it can't.
    """
    if not is_name(name) or name == "global":
        raise spot.mistake(f"`{name}` cannot name a workload", f"a name is {NAME_RULE}; not `global`, fio's own word")


def known_preset(name: str, spot: Spot) -> str:
    """The name, if it is that of a preset.

    Raises:
        CampaignError: it is none.
    """
    if name in presets():
        return name
    guess = did_you_mean(name, presets())
    raise spot.mistake(f"no preset is called `{name[:60]}`{guess}", f"presets are {listed(presets())}; {_EXAMPLE}")


def check_size(request: WorkloadRequest, spot: Spot) -> WorkloadRequest:
    """The request, if its lists make no more than MOST_CELLS workloads.

    Raises:
        CampaignError: they do.
    """
    if count_cells(request) > MOST_CELLS:
        raise spot.mistake(f"the lists make more than {MOST_CELLS} workloads", "shorten one of the lists")
    return request


def read_options(table: YamlMapping, where: str) -> OptionValues:
    """fio's options with their values, lists too, and none of the keys that are poolproof's own.

    Raises:
        CampaignError: such a key, a name or a value that can't be fio's.
    """
    for key, _ in table.entries:
        if key.text in OWN_KEYS:
            raise key.spot.mistake(f"`{key.text}` cannot stand in {where}", "only fio's options can: bs: 4k")
    return _options(table, skip=())


def option_text(value: Scalar, key: str) -> str:
    """One value of a fio option as fio reads it: true and false become 1 and 0, all else stays as written."""
    if value.as_flag is not None:
        return "1" if value.as_flag else "0"
    if value.is_nothing or not value.text.strip():
        raise value.spot.mistake(f"expected a value after `{key}`, found nothing", f"write {key}: 1")
    if _CONTROL.search(value.text):
        raise value.spot.mistake(f"the value of `{key}` is more than one line", "write it on one line")
    return value.text


def check_option_name(key: Scalar) -> None:
    """Return when the key is spelled as an option of fio may be; whether there is such a one, fio itself is asked.

    Raises:
        CampaignError: it is not.
    """
    if not _OPTION.fullmatch(key.text):
        raise key.spot.mistake(
            f"`{key.text[:60]}` is no name of a fio option", "fio lists them: fio --cmdhelp=all; write rw: randread"
        )


def known_metric(value: Scalar) -> MetricId:
    """The metric of that name.

    Raises:
        CampaignError: there is none.
    """
    for metric in COMPARABLE:
        if metric == value.text:
            return metric
    guess = did_you_mean(value.text, COMPARABLE)
    raise value.spot.mistake(f"no metric is called `{value.text[:60]}`{guess}", f"metrics are {listed(COMPARABLE)}")


def _from_table(name: str, table: YamlMapping) -> WorkloadRequest:
    if not table.entries:
        raise table.spot.mistake(f"workload `{name}` is empty", _EXAMPLE)
    own = {key.text: value for key, value in table.entries if key.text in OWN_KEYS}
    preset = _preset(own["preset"]) if "preset" in own else None
    return WorkloadRequest(
        preset=preset,
        options=_options(table, skip=OWN_KEYS),
        jobs=_jobs(own["jobs"], preset) if "jobs" in own else (),
        metric=known_metric(expect_scalar(own["metric"], "a metric", "write metric: p99")) if "metric" in own else None,
        cold=expect_flag(own["cold"], "cold") if "cold" in own else None,
        fill=expect_flag(own["fill"], "fill") if "fill" in own else True,
    )


def _spots(table: YamlMapping) -> Iterator[tuple[str, str]]:
    """Where each option stands; one of a job section under `section.option`."""
    for key, value in table.entries:
        if key.text == "jobs" and isinstance(value, YamlMapping):
            sections = [(name.text, options) for name, options in value.entries if isinstance(options, YamlMapping)]
            yield from ((f"{name}.{spot[0]}", spot[1]) for name, options in sections for spot in _spots(options))
        else:
            yield key.text, str(key.spot)


def _preset(value: Node) -> str:
    scalar = expect_scalar(value, "a preset's name", f"presets are {listed(presets())}")
    return known_preset(scalar.text, scalar.spot)


def _options(table: YamlMapping, skip: tuple[str, ...]) -> OptionValues:
    return tuple((key.text, _values(key, value)) for key, value in table.entries if key.text not in skip)


def _values(key: Scalar, value: Node) -> tuple[str, ...]:
    check_option_name(key)
    nodes = value.values if isinstance(value, Items) else (value,)
    if not nodes:
        raise value.spot.mistake(f"the list after `{key.text}` is empty", f"write {key.text}: [ONE, TWO], or one value")
    found = tuple(option_text(_one_value(key.text, node), key.text) for node in nodes)
    repeated = next((text for text in found if found.count(text) > 1), None) if len(set(found)) < len(found) else None
    if repeated is not None:
        raise value.spot.mistake(f"`{repeated}` stands twice in the list after `{key.text}`", "keep one of them")
    return found


def _one_value(key: str, node: Node) -> Scalar:
    if isinstance(node, Scalar):
        return node
    raise node.spot.mistake(
        f"expected one value or a list of values after `{key}`, found {describe(node)}", f"write {key}: [4k, 16k]"
    )


def _jobs(value: Node, preset: str | None) -> tuple[tuple[str, OptionValues], ...]:
    table = expect_table(value, "`jobs`", "write jobs: {log: {rw: write}, data: {rw: randread}}")
    if not table.entries:
        raise table.spot.mistake("`jobs` is empty", "name a section: jobs: {log: {rw: write}}")
    for section, _ in table.entries:
        _check_section(section, preset)
    return tuple((section.text, _section(section, options)) for section, options in table.entries)


def _check_section(section: Scalar, preset: str | None) -> None:
    if not is_name(section.text) or section.text == "global":
        raise section.spot.mistake(f"`{section.text[:60]}` cannot name a job section", f"a name is {NAME_RULE}")
    if preset is None:
        return
    known = [job.name for job in presets()[preset].jobs]
    if section.text not in known:
        guess = did_you_mean(section.text, known)
        raise section.spot.mistake(
            f"preset `{preset}` has no section `{section.text}`{guess}", f"it has {listed(known)}"
        )


def _section(section: Scalar, options: Node) -> OptionValues:
    where = f"job section `{section.text}`"
    table = expect_table(options, where, f"write {section.text}: {{rw: randread}}")
    for key, _ in table.entries:
        if key.text in OWN_KEYS:
            raise key.spot.mistake(
                f"`{key.text}` belongs to the whole workload, not to {where}", "write it beside `jobs`"
            )
    return _options(table, skip=())
