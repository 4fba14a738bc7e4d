"""Build the campaign from the command line: from a campaign file with overriding options, or from options alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.check import check_campaign
from poolproof.campaign.device_source import parse_device_flag
from poolproof.campaign.document import OptionSpot, Scalar, Spot, YamlMapping
from poolproof.campaign.layout import BraceMistake, expand_text, make_layouts
from poolproof.campaign.measure import duration, read_measure
from poolproof.campaign.model import Campaign, Disk, Layout, Measure, Workload, WorkloadRequest
from poolproof.campaign.names import choices, slug
from poolproof.campaign.trial_length import with_enough_time
from poolproof.campaign.workload import (
    check_family,
    check_option_name,
    check_size,
    expand_workload,
    known_metric,
    known_preset,
    option_text,
)
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import KEYS, KEYS_IN_MEASURE, quick_of, read_campaign
from poolproof.errors import UsageError, as_word

_NAMED_LAYOUT = re.compile(r"\s*([^\s|()={}\"]+)=(.*)", re.DOTALL)
_NAMED_WORKLOAD = re.compile(r"([^:=,{}]+):(.*)", re.DOTALL)
_COMMA = re.compile(r"[{},]")
_WORKLOAD = "write --workload etcd, --workload rw=randread,bs={4k,16k} or --workload NAME:rw=randread,bs=4k"
_VALUE_IN_NAME = ("rw", "readwrite", "bs", "blocksize")
_PLURALS = {"layouts": Spot("--layout"), "workloads": Spot("--workload")}
_SPOTS = {key: OptionSpot(f"--{key}") for key in (*KEYS, *KEYS_IN_MEASURE)}


@dataclass(frozen=True)
class Flags:
    """The options that describe a campaign, with None for each option that was not given."""

    layouts: Sequence[str] | None
    devices: Sequence[str] | None
    workloads: Sequence[str] | None
    baseline: str | None


@dataclass(frozen=True)
class Overrides:
    """Options that override the campaign's `measure`, `budget` and `goal`, with None for those not given."""

    time: str | None
    trials: str | None
    seed: int | None
    quick: bool = False
    until: str | None = None
    confidence: str | None = None
    least: str | None = None
    most: str | None = None
    steady: str | None = None
    budget: str | None = None
    goal: str | None = None
    calibrate: bool = False
    builds: str | None = None


def split_words(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Split the positional arguments into the campaign file (or None) and the workloads.

    Workloads can be positional, because the shell expands an unquoted `--workload rw=randread,bs={4k,16k}` into several
    words, and only the first of them follows `--workload`. Raises a UsageError if more than one campaign file is given.
    """
    workloads = [word for word in words if "=" in word and not Path(word).exists()]
    paths = [word for word in words if word not in workloads]
    if len(paths) > 1:
        raise UsageError(
            f"{len(paths)} campaigns were given; only one can run at a time", f"poolproof run {as_word(paths[0])}"
        )
    return (Path(paths[0]) if paths else None), workloads


def check_wipe(campaign: Campaign, identities: Sequence[str]) -> None:
    """Raise a UsageError if `--wipe` names a disk of the main host, but the campaign uses no real disk.

    Identities of the form `HOST:IDENTITY` name disks on other hosts and are not checked.
    """
    here = [identity for identity in identities if ":" not in identity]
    if here and not any(isinstance(device.source, Disk) for device in campaign.devices):
        raise UsageError(f"--wipe {here[0]}: the campaign does not use a real disk", "remove --wipe")


def campaign_of(path: Path | None, flags: Flags, overrides: Overrides) -> tuple[Campaign, str]:
    """Return the campaign and its YAML source. For a campaign file, the source is the file's contents.

    Raises:
        UsageError: neither a file nor options that describe a campaign are given, or both. Also if `--quick`,
            `--baseline` or `--trials` does not fit the campaign.
        CampaignError: the campaign contains a mistake.
    """
    layouts, devices, workloads = (list(each or ()) for each in (flags.layouts, flags.devices, flags.workloads))
    is_described = bool(layouts or devices or workloads)
    if path is not None and is_described:
        message = "a campaign file can't be combined with --layout, --device or --workload"
        raise UsageError(message, "remove either the file or these options")
    if path is not None:
        campaign = read_campaign(path)
        return _apply(campaign, overrides, flags.baseline), path.read_text(encoding="utf-8")
    if not is_described:
        raise UsageError("no campaign was given", "poolproof run CAMPAIGN.yaml, or: poolproof demo")
    campaign = campaign_from_flags(layouts, devices, workloads, baseline=flags.baseline)
    return _apply(campaign, overrides, flags.baseline), format_campaign(campaign)


def save_campaign(campaign: Campaign, path: Path) -> None:
    """Write the campaign to a new YAML file. Raises a UsageError if the file already exists or cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:  # also fails if the path is a dangling link
            file.write(format_campaign(campaign))
    except FileExistsError:
        raise UsageError(f"{path} already exists", "specify another file with --save") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "specify another file with --save") from None


def _apply(campaign: Campaign, overrides: Overrides, baseline: str | None) -> Campaign:
    if overrides.quick:
        if campaign.quick is None:
            raise UsageError("--quick: the campaign has no `quick` section", "--time 2s --trials 1")
        campaign = quick_of(campaign)
    measure = _measure(campaign.measure, overrides)
    if baseline is not None and baseline not in {layout.name for layout in campaign.layouts}:
        hint = choices("layout", [layout.name for layout in campaign.layouts])
        raise UsageError(f"--baseline {baseline}: no layout has this name", hint)
    # The budget in the file belongs to `until`, so both are dropped if `--time` is given.
    budget_s = None if overrides.time is not None else campaign.budget_s
    if overrides.budget is not None:
        budget_s = duration(overrides.budget, OptionSpot("--budget"), "budget")
    result = replace(
        campaign,
        measure=replace(measure, calibrate=measure.calibrate or overrides.calibrate),
        baseline=baseline or campaign.baseline,
        goal=overrides.goal or campaign.goal,
        budget_s=budget_s,
        budget_origin=campaign.budget_origin if overrides.budget is None else "--budget",
    )
    check_campaign(result, _SPOTS)
    return with_enough_time(result)


def _measure(measure: Measure, overrides: Overrides) -> Measure:
    """Parse the options as if they were keys of `measure` in a campaign file, but name the option in error messages.

    Raises a UsageError if `trials` is below 1, and a CampaignError for any other invalid value.
    """
    if overrides.trials is not None and re.fullmatch(r"-?\d+", overrides.trials) and int(overrides.trials) < 1:
        raise UsageError(f"--trials {overrides.trials}: a cell needs at least one trial", "--trials 3")
    given = {
        "time": overrides.time,
        "until": overrides.until,
        "confidence": overrides.confidence,
        "min": overrides.least,
        "max": overrides.most,
        "steady": overrides.steady,
        "builds": overrides.builds,
        "trials": overrides.trials,
        "seed": None if overrides.seed is None else str(overrides.seed),
    }
    entries = tuple(
        (Scalar(key, True, OptionSpot(f"--{key}")), Scalar(text, False, OptionSpot(f"--{key}")))
        for key, text in given.items()
        if text is not None
    )
    return read_measure(YamlMapping(entries, OptionSpot("--time")), measure) if entries else measure


def parse_layout_flag(text: str) -> tuple[Layout, ...]:
    """Parse a --layout option, such as `btrfs raid1 a b` or `NAME=btrfs raid1 a b`, into layouts.

    Without a name, the layout is named after the words of its expression. Raises a CampaignError if the option is not
    valid.
    """
    spot = Spot("--layout")
    named = _NAMED_LAYOUT.fullmatch(text)
    if named:
        return make_layouts(named[1], named[2].strip(), spot)
    return make_layouts(slug(re.sub(r"\{[^\s|()]*\}", " ", text)) or "layout", text.strip(), spot)


def parse_workload_flag(text: str) -> tuple[Workload, ...]:
    """Parse a --workload option, such as `etcd`, `rw=randread,bs={4k,16k}` or `etcd,size=1g`, into workloads.

    The option may begin with `NAME:`. Without a name, workloads are named after their options. `metric=…` selects the
    metric, as in a campaign file. Raises a CampaignError if the option has a mistake, such as an unknown preset, a key
    without a value or an unclosed brace.
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
    baseline: str | None = None,
) -> Campaign:
    """Return the campaign described by --layout, --device and --workload.

    Raises a CampaignError if an option is invalid, a name is used twice, or there are no cells.
    """
    campaign = Campaign(
        name="command-line",
        question="",
        devices=tuple(parse_device_flag(text) for text in devices),
        layouts=tuple(layout for text in layouts for layout in parse_layout_flag(text)),
        workloads=tuple(workload for text in workloads for workload in parse_workload_flag(text)),
        measure=Measure(is_default_time=True),
        baseline=baseline,
    )
    for named, flag, example in (
        (campaign.devices, "--device", "NAME=file:8G"),
        (campaign.layouts, "--layout", "'NAME=btrfs raid1 a b'"),
        (campaign.workloads, "--workload", "NAME:rw=randread,bs=4k"),
    ):
        names = [each.name for each in named]
        if not names and flag != "--device":
            raise Spot(flag).mistake(f"no {flag.removeprefix('--')} was given", f"add {flag} {example}")
        if len(set(names)) < len(names):
            repeated = next(name for name in names if names.count(name) > 1)
            hint = f"give one of them a name: {flag} {example}"
            raise Spot(flag).mistake(f"the name `{repeated}` is given twice", hint)
    check_campaign(campaign, {**_SPOTS, **_PLURALS})
    return with_enough_time(campaign)


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
    """Split a string at commas that are not inside braces."""
    parts, depth, start = [], 0, 0
    for match in _COMMA.finditer(text):
        depth += {"{": 1, "}": -1, ",": 0}[match[0]]
        if match[0] == "," and depth <= 0:
            parts.append(text[start : match.start()].strip())
            start = match.end()
    return [*parts, text[start:].strip()]


def _family(request: WorkloadRequest) -> str:
    """Derive a name from the preset and all options with a single value, e.g. `randread-16k-iodepth8` or `etcd`.

    Return `matrix` if there is neither.
    """
    fixed = [(key, values[0]) for key, values in request.options if len(values) == 1]
    words = [value if key in _VALUE_IN_NAME else key + value for key, value in fixed]
    return slug("-".join([request.preset or "", *words])) or "matrix"
