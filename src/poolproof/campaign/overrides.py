"""The campaign that a command line describes: a file with options that override parts of it, or options alone."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.check import check_campaign
from poolproof.campaign.document import Scalar, Spot, YamlMapping
from poolproof.campaign.flags import campaign_from_flags
from poolproof.campaign.measure import duration, read_measure
from poolproof.campaign.model import Campaign, Disk, Measure
from poolproof.campaign.quick import quick_of
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import KEYS, KEYS_IN_MEASURE, read_campaign
from poolproof.errors import UsageError


@dataclass(frozen=True)
class Flags:
    """A campaign described by command-line options; None if an option was not given."""

    layouts: Sequence[str] | None
    devices: Sequence[str] | None
    workloads: Sequence[str] | None
    baseline: str | None

    @property
    def given(self) -> bool:
        """True if any option that describes a campaign was given."""
        return bool(self.layouts or self.devices or self.workloads)


@dataclass(frozen=True)
class Overrides:
    """Values from the command line that replace those in the campaign's `measure`, `budget` and `goal`; None: keep."""

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


def split_words(words: Sequence[str]) -> tuple[Path | None, list[str]]:
    """Return the campaign file among the plain arguments, and the workloads that the shell's brace expansion produced.

    A shell expands the braces of an unquoted `--workload rw=randread,bs={4k,16k}` itself. Every word after the first
    then has no `--workload` in front of it.

    Raises:
        UsageError: more than one campaign file.
    """
    workloads = [word for word in words if "=" in word and not Path(word).exists()]
    paths = [word for word in words if word not in workloads]
    if len(paths) > 1:
        raise UsageError(f"{len(paths)} campaigns were given; only one can run at a time", f"poolproof run {paths[0]}")
    return (Path(paths[0]) if paths else None), workloads


def check_wipe(campaign: Campaign, identities: Sequence[str]) -> None:
    """Raise a UsageError if disks may be overwritten but the campaign uses no real disk."""
    if not any(isinstance(device.source, Disk) for device in campaign.devices):
        raise UsageError(f"--wipe {identities[0]}: the campaign uses no real disk", "leave --wipe out")


def campaign_of(path: Path | None, flags: Flags, overrides: Overrides) -> tuple[Campaign, str]:
    """Return the campaign and its YAML text; if it came from a file, the text is that of the file.

    Raises:
        UsageError: neither a file nor options describe a campaign, or both do.
        CampaignError: the campaign has a mistake.
    """
    if path is not None and flags.given:
        raise UsageError(
            "a campaign file and --layout, --device or --workload were both given", "leave one of them out"
        )
    if path is None and not flags.given:
        raise UsageError("no campaign was given", "poolproof run CAMPAIGN.yaml, or: poolproof demo")
    if path is not None:
        campaign = read_campaign(path)
        return _apply(campaign, overrides, flags.baseline), path.read_text(encoding="utf-8")
    campaign = campaign_from_flags(
        list(flags.layouts or ()), list(flags.devices or ()), list(flags.workloads or ()), baseline=flags.baseline
    )
    return _apply(campaign, overrides, flags.baseline), format_campaign(campaign)


def save_campaign(campaign: Campaign, path: Path) -> None:
    """Write the campaign as a YAML file. Raises a UsageError if it exists or can't be written."""
    if path.exists():
        raise UsageError(f"{path} already exists", "name another file with --save")
    try:
        path.write_text(format_campaign(campaign), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name another file with --save") from None


def _apply(campaign: Campaign, overrides: Overrides, baseline: str | None) -> Campaign:
    if overrides.quick:
        if campaign.quick is None:
            raise UsageError("--quick: the campaign has no `quick` section", "--time 2s --trials 1")
        campaign = quick_of(campaign)
    measure = _measure(campaign.measure, overrides)
    measure = replace(measure, calibrate=measure.calibrate or overrides.calibrate)
    if baseline is not None and baseline not in {layout.name for layout in campaign.layouts}:
        names = ", ".join(layout.name for layout in campaign.layouts)
        raise UsageError(f"--baseline {baseline}: there is no such layout", f"the layouts are {names}")
    result = replace(
        campaign,
        measure=measure,
        baseline=baseline or campaign.baseline,
        goal=overrides.goal or campaign.goal,
        budget_s=_budget_s(campaign, overrides),
        budget_origin=campaign.budget_origin if overrides.budget is None else "--budget",
    )
    check_campaign(result, {key: Spot(f"--{key}") for key in (*KEYS, *KEYS_IN_MEASURE)})
    return result


def _budget_s(campaign: Campaign, overrides: Overrides) -> float | None:
    """The file's budget belongs to its `until`, so both are dropped if `--time` is given."""
    if overrides.budget is not None:
        return duration(overrides.budget, Spot("--budget"), "budget")
    return None if overrides.time is not None else campaign.budget_s


def _measure(measure: Measure, overrides: Overrides) -> Measure:
    """The overrides, parsed as if they were in the file; errors name the option."""
    if overrides.trials is not None and re.fullmatch(r"-?\d+", overrides.trials) and int(overrides.trials) < 1:
        raise UsageError(f"--trials {overrides.trials}: a cell needs at least one trial", "--trials 3")
    given = {
        "time": overrides.time,
        "until": overrides.until,
        "confidence": overrides.confidence,
        "min": overrides.least,
        "max": overrides.most,
        "steady": overrides.steady,
        "trials": overrides.trials,
        "seed": None if overrides.seed is None else str(overrides.seed),
    }
    entries = tuple(
        (Scalar(key, True, Spot(f"--{key}")), Scalar(text, False, Spot(f"--{key}")))
        for key, text in given.items()
        if text is not None
    )
    return read_measure(YamlMapping(entries, Spot("--time")), measure) if entries else measure
