"""The campaign that a command line asks for: a file, or flags, or both."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.campaign.check import check_whole
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
    """A campaign said in words of the command line; None where a flag was not given."""

    layouts: Sequence[str] | None
    devices: Sequence[str] | None
    workloads: Sequence[str] | None
    baseline: str | None

    @property
    def given(self) -> bool:
        """Whether any of them was."""
        return bool(self.layouts or self.devices or self.workloads)


@dataclass(frozen=True)
class Changes:
    """What the command line changes of a campaign's `measure`, `budget` and `goal`; None where it changes nothing."""

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
    """The campaign file among the words without a flag, and workloads that a shell made.

    A shell takes the braces of an unquoted `--workload rw=randread,bs={4k,16k}` apart itself, and leaves all but the
    first of the words that it makes of them without their flag.

    Raises:
        UsageError: more than one campaign file.
    """
    workloads = [word for word in words if "=" in word and not Path(word).exists()]
    paths = [word for word in words if word not in workloads]
    if len(paths) > 1:
        raise UsageError(f"one campaign at a time, and {len(paths)} were given", f"poolproof run {paths[0]}")
    return (Path(paths[0]) if paths else None), workloads


def check_wipe(campaign: Campaign, identities: Sequence[str]) -> None:
    """Permission to overwrite a disk is for disks that the campaign has.

    Raises:
        UsageError: it has none.
    """
    if not any(isinstance(device.source, Disk) for device in campaign.devices):
        raise UsageError(f"--wipe {identities[0]}: the campaign uses no real disk", "leave --wipe out")


def campaign_asked(path: Path | None, flags: Flags, changes: Changes) -> tuple[Campaign, str]:
    """The campaign and its YAML text, as given where it came from a file.

    Raises:
        UsageError: neither a file nor flags, or both.
        CampaignError: a mistake in either.
    """
    if path is not None and flags.given:
        raise UsageError("a campaign file and --layout, --device or --workload were given", "leave one of them out")
    if path is None and not flags.given:
        raise UsageError("nothing to run was given", "poolproof run CAMPAIGN.yaml, or: poolproof demo")
    if path is not None:
        campaign = read_campaign(path)
        return _changed(campaign, changes, flags.baseline), path.read_text(encoding="utf-8")
    campaign = campaign_from_flags(
        list(flags.layouts or ()), list(flags.devices or ()), list(flags.workloads or ()), baseline=flags.baseline
    )
    return _changed(campaign, changes, flags.baseline), format_campaign(campaign)


def save_campaign(campaign: Campaign, path: Path) -> None:
    """Write the campaign as a YAML file.

    Raises:
        UsageError: the file is there already, or can't be written.
    """
    if path.exists():
        raise UsageError(f"{path} is there already", "name another file with --save")
    try:
        path.write_text(format_campaign(campaign), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", "name another file with --save") from None


def _changed(campaign: Campaign, changes: Changes, baseline: str | None) -> Campaign:
    if changes.quick:
        if campaign.quick is None:
            raise UsageError("--quick: the campaign has no `quick` part", "--time 2s --trials 1")
        campaign = quick_of(campaign)
    measure = _measure(campaign.measure, changes)
    measure = replace(measure, calibrate=measure.calibrate or changes.calibrate)
    if baseline is not None and baseline not in {layout.name for layout in campaign.layouts}:
        names = ", ".join(layout.name for layout in campaign.layouts)
        raise UsageError(f"--baseline {baseline}: there is no such layout", f"the layouts are {names}")
    changed = replace(
        campaign,
        measure=measure,
        baseline=baseline or campaign.baseline,
        goal=changes.goal or campaign.goal,
        budget_s=_budget_s(campaign, changes),
    )
    check_whole(changed, {key: Spot(f"--{key}") for key in (*KEYS, *KEYS_IN_MEASURE)})
    return changed


def _budget_s(campaign: Campaign, changes: Changes) -> float | None:
    """The budget; that of a file goes with its `until` where `--time` takes the place of that."""
    if changes.budget is not None:
        return duration(changes.budget, Spot("--budget"), "budget")
    return None if changes.time is not None else campaign.budget_s


def _measure(measure: Measure, changes: Changes) -> Measure:
    """As the flags say, read as if they stood in the file; the flags' own names are what a mistake is told by."""
    if changes.trials is not None and re.fullmatch(r"-?\d+", changes.trials) and int(changes.trials) < 1:
        raise UsageError(f"--trials {changes.trials}: a cell needs at least one trial", "--trials 3")
    said = {
        "time": changes.time,
        "until": changes.until,
        "confidence": changes.confidence,
        "min": changes.least,
        "max": changes.most,
        "steady": changes.steady,
        "trials": changes.trials,
        "seed": None if changes.seed is None else str(changes.seed),
    }
    entries = tuple(
        (Scalar(key, True, Spot(f"--{key}")), Scalar(text, False, Spot(f"--{key}")))
        for key, text in said.items()
        if text is not None
    )
    return read_measure(YamlMapping(entries, Spot("--time")), measure) if entries else measure
