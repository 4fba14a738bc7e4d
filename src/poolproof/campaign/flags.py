"""A campaign from command-line options, without a file."""

import re
from collections.abc import Sequence

from poolproof.campaign.braces import BraceMistake, expand_text
from poolproof.campaign.check import check_campaign
from poolproof.campaign.device_source import parse_device_flag
from poolproof.campaign.document import Scalar, Spot
from poolproof.campaign.layout import make_layouts
from poolproof.campaign.model import Campaign, Layout, Measure, OptionValues, Workload, WorkloadRequest
from poolproof.campaign.names import slug
from poolproof.campaign.workload import (
    check_family,
    check_option_name,
    check_size,
    expand_workload,
    known_metric,
    known_preset,
    option_text,
)

_NAMED_LAYOUT = re.compile(r"\s*([^\s|()={}\"]+)=(.*)", re.DOTALL)
_NAMED_WORKLOAD = re.compile(r"([^:=,{}]+):(.*)", re.DOTALL)
_COMMA = re.compile(r"[{},]")
_WORKLOAD = "write --workload etcd, --workload rw=randread,bs={4k,16k} or --workload NAME:rw=randread,bs=4k"


def parse_layout_flag(text: str) -> tuple[Layout, ...]:
    """Return the layouts of `btrfs raid1 a b` or `NAME=btrfs raid1 a b`; raises CampaignError.

    Without a name, a layout is named by its words.
    """
    spot = Spot("--layout")
    named = _NAMED_LAYOUT.fullmatch(text)
    if named:
        return make_layouts(named[1], named[2].strip(), spot)
    return make_layouts(slug(re.sub(r"\{[^\s|()]*\}", " ", text)) or "layout", text.strip(), spot)


def parse_workload_flag(text: str) -> tuple[Workload, ...]:
    """Return the workloads of `etcd`, `rw=randread,bs={4k,16k}` or `etcd,size=1g`, with or without `NAME:` in front.

    `metric=…` sets the metric, as in a campaign file. Without a name, workloads are named by their options.

    Raises:
        CampaignError: an unknown preset or metric, an option without a value, a brace that is not closed.
    """
    spot = Spot(f"--workload {text}")
    named = _NAMED_WORKLOAD.fullmatch(text)
    name, rest = (named[1].strip(), named[2]) if named else ("", text)
    request = check_size(_request(rest, spot), spot)
    family = name or _family(request)
    check_family(family, spot)
    return expand_workload(family, request)


def campaign_from_flags(
    layouts: Sequence[str],
    devices: Sequence[str],
    workloads: Sequence[str],
    *,
    measure: Measure | None = None,
    baseline: str | None = None,
    goal: str | None = None,
) -> Campaign:
    """Return the campaign that --layout, --device and --workload describe.

    Raises:
        CampaignError: one of them is wrong, two have the same name, or there are no cells.
    """
    campaign = Campaign(
        name="command-line",
        question="",
        devices=tuple(parse_device_flag(text) for text in devices),
        layouts=tuple(layout for text in layouts for layout in parse_layout_flag(text)),
        workloads=tuple(workload for text in workloads for workload in parse_workload_flag(text)),
        measure=measure or Measure(),
        baseline=baseline,
        goal=goal,
    )
    _check_names([device.name for device in campaign.devices], "--device", "NAME=file:8G")
    _check_names([layout.name for layout in campaign.layouts], "--layout", "'NAME=btrfs raid1 a b'")
    _check_names([workload.name for workload in campaign.workloads], "--workload", "NAME:rw=randread,bs=4k")
    keys = {
        "layouts": "--layout",
        "workloads": "--workload",
        "baseline": "--baseline",
        "goal": "--goal",
        "until": "--until",
    }
    check_campaign(campaign, {key: Spot(flag) for key, flag in keys.items()})
    return campaign


def _request(text: str, spot: Spot) -> WorkloadRequest:
    parts = _split(text)
    preset = metric = None
    options: dict[str, tuple[str, ...]] = {}
    for index, part in enumerate(parts):
        key, equals, value = part.partition("=")
        if (not equals and index == 0) or key == "preset":
            preset = known_preset(value or key, spot)
        elif not equals:
            raise spot.mistake(f"expected key=value after the comma, found `{part[:60]}`", _WORKLOAD)
        elif key == "metric":
            metric = known_metric(Scalar(value, True, spot))
        elif key in options:
            raise spot.mistake(f"`{key}` is given twice", f"write its values in braces: {key}={{4k,16k}}")
        else:
            options[key] = _values(key, value, spot)
    return WorkloadRequest(preset=preset, options=tuple(options.items()), metric=metric, spots=(("", str(spot)),))


def _values(key: str, value: str, spot: Spot) -> tuple[str, ...]:
    check_option_name(Scalar(key, True, spot))
    try:
        choices = expand_text(value)
    except BraceMistake as mistake:
        raise spot.mistake(f"{mistake}", f"write {key}={{4k,16k}}") from None
    found = tuple(option_text(Scalar(choice, True, spot), key) for choice in choices)
    if len(set(found)) < len(found):
        raise spot.mistake(f"`{key}` has the same value twice", f"write {key}={{4k,16k}}")
    return found


def _split(text: str) -> list[str]:
    """Split at the commas that are outside braces."""
    parts, depth, start = [], 0, 0
    for match in _COMMA.finditer(text):
        depth += {"{": 1, "}": -1, ",": 0}[match[0]]
        if match[0] == "," and depth <= 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [*parts, text[start:].strip()]


def _family(request: WorkloadRequest) -> str:
    """Make a name from the options that do not vary: `randread-16k-iodepth8`; `etcd` for the preset alone."""
    return slug("-".join([request.preset or "", *_fixed(request.options)])) or "matrix"


def _fixed(options: OptionValues) -> list[str]:
    fixed = [(key, values[0]) for key, values in options if len(values) == 1]
    return [value if key in ("rw", "readwrite", "bs", "blocksize") else key + value for key, value in fixed]


def _check_names(names: Sequence[str], flag: str, example: str) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise Spot(flag).mistake(f"two have the name `{repeated}`", f"give one of them a name: {flag} {example}")
