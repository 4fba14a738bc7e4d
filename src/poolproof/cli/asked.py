"""The campaign that a command line asks for: a file, or flags, or both."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from poolproof.campaign.flags import campaign_from_flags
from poolproof.campaign.model import Campaign
from poolproof.campaign.write import format_campaign
from poolproof.campaign.yaml import read_campaign
from poolproof.errors import UsageError
from poolproof.units import parse_duration


def campaign_asked(
    path: Path | None,
    layouts: Sequence[str] | None,
    devices: Sequence[str] | None,
    workloads: Sequence[str] | None,
    time: str | None,
    trials: int | None,
    seed: int | None,
) -> tuple[Campaign, str]:
    """The campaign and its YAML text, as given where it came from a file.

    Raises:
        UsageError: neither a file nor flags, or both.
        CampaignError: a mistake in either.
    """
    flags = [*(layouts or ()), *(devices or ()), *(workloads or ())]
    if path is not None and flags:
        raise UsageError("a campaign file and --layout, --device or --workload were given", "leave one of them out")
    if path is None and not flags:
        raise UsageError("nothing to run was given", "poolproof run CAMPAIGN.yaml, or: poolproof demo")
    if path is not None:
        campaign, text = read_campaign(path), path.read_text(encoding="utf-8")
    else:
        campaign = campaign_from_flags(list(layouts or ()), list(devices or ()), list(workloads or ()))
        text = format_campaign(campaign)
    changed = _with_measure(campaign, time, trials, seed)
    return changed, text


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


def _with_measure(campaign: Campaign, time: str | None, trials: int | None, seed: int | None) -> Campaign:
    measure = campaign.measure
    if time is not None:
        measure = replace(measure, time_s=_duration(time))
    if trials is not None:
        if trials < 1:
            raise UsageError(f"--trials {trials}: a cell needs at least one trial", "--trials 3")
        measure = replace(measure, trials=trials)
    if seed is not None:
        measure = replace(measure, seed=seed)
    return replace(campaign, measure=measure)


def _duration(text: str) -> float:
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--time: {error}", "--time 10s") from None
    if seconds <= 0:
        raise UsageError("--time: a trial must last longer than nothing", "--time 10s")
    return seconds
