"""Read a campaign file into a frozen Campaign; a mistake is one error with the file, the line and what to type."""

import re
from collections.abc import Sequence
from pathlib import Path

from poolproof.campaign.check import check_campaign, check_references
from poolproof.campaign.claims import read_claims
from poolproof.campaign.device_source import read_device
from poolproof.campaign.document import (
    Node,
    Scalar,
    Spot,
    YamlMapping,
    expect_mapping,
    expect_scalar,
    parse_document,
    unknown_key,
)
from poolproof.campaign.layout import make_layouts
from poolproof.campaign.measure import duration, read_measure
from poolproof.campaign.model import Campaign, Device, Layout, Measure, Workload
from poolproof.campaign.names import NAME_RULE, is_name, slug
from poolproof.campaign.quick import quick_of, read_quick
from poolproof.campaign.workload import expand_workload, read_workload
from poolproof.errors import CampaignError

KEYS = (
    "name",
    "question",
    "devices",
    "layouts",
    "workloads",
    "measure",
    "baseline",
    "goal",
    "expect",
    "quick",
    "budget",
)
KEYS_IN_MEASURE = ("calibrate", "until")
"""Keys of `measure` that a check of the whole campaign may complain about."""
_DEVICES = "write devices: {a: {file: 16G}, b: {emulate: hdd-7200, size: 16G}}"
_LAYOUTS = "write layouts: {mirror: 'btrfs raid1 a b'}"
_WORKLOADS = "write workloads: {etcd: etcd, reads: {rw: randread, bs: 16k}}"
_EMPTY = "a campaign needs at least `layouts:` and `workloads:`"
_MOST_BYTES = 1024 * 1024


def read_campaign(path: Path | str) -> Campaign:
    """Read the campaign in a file; raises CampaignError if it cannot be read or has a mistake."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise CampaignError(
                f"{path} is larger than 1 MiB, which no campaign is", "give the path of a campaign's YAML file"
            )
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CampaignError(f"{path} cannot be read: {reason}", "give the path of a campaign's YAML file") from None
    return parse_campaign(text, str(path))


def parse_campaign(text: str, origin: str, *, recorded: bool = False) -> Campaign:
    """Parse a campaign. `origin` names the text in errors, and the campaign if it has no `name`.

    A `recorded` campaign belongs to a run: only its references are checked, since it was fully checked at that time.

    Raises:
        CampaignError: the text has a mistake. No host is contacted.
    """
    root = parse_document(text, origin)
    if root is None or (isinstance(root, Scalar) and root.is_nothing):
        raise CampaignError(f"{origin}: the campaign is empty", _EMPTY)
    table = expect_mapping(root, "a campaign", _EMPTY)
    for key, _ in table.entries:
        if key.text not in KEYS:
            raise unknown_key(key, KEYS, "the campaign")
    campaign = _campaign(table, origin, recorded=recorded)
    of_measure = {key: _spot_in_measure(table, key) for key in KEYS_IN_MEASURE}
    check = check_references if recorded else check_campaign
    check(campaign, {key: table.spot_of(key) for key in KEYS} | of_measure)
    if campaign.quick is not None:
        check(quick_of(campaign), {key: table.spot_of("quick") for key in (*KEYS, *KEYS_IN_MEASURE)})
    return campaign


def _campaign(table: YamlMapping, origin: str, *, recorded: bool) -> Campaign:
    expect, quick, workloads = table.get("expect"), table.get("quick"), _workloads(table)
    measure = _measure(table, recorded=recorded)
    return Campaign(
        name=_name(table, origin),
        question=_text(table, "question", "write question: Which layout is faster?") or "",
        devices=_devices(table),
        layouts=_layouts(table),
        workloads=workloads,
        measure=measure,
        baseline=_text(table, "baseline", "write baseline: NAME-OF-A-LAYOUT"),
        goal=_text(table, "goal", "write goal: NAME-OF-A-WORKLOAD"),
        expect=read_claims(expect) if expect else (),
        quick=read_quick(quick, workloads, measure, recorded=recorded) if quick else None,
        budget_s=_budget(table),
        budget_origin=str(table.spot_of("budget")),
    )


def _spot_in_measure(table: YamlMapping, key: str) -> Spot:
    measure = table.get("measure")
    return measure.spot_of(key) if isinstance(measure, YamlMapping) else table.spot


def _budget(table: YamlMapping) -> float | None:
    text = _text(table, "budget", "write budget: 2h")
    return None if text is None else duration(text, table.spot_of("budget"), "budget")


def _measure(table: YamlMapping, *, recorded: bool) -> Measure:
    node = table.get("measure")
    return read_measure(node, recorded=recorded) if node else Measure()


def _name(table: YamlMapping, origin: str) -> str:
    name = _text(table, "name", "write name: my-campaign")
    if name is None:
        return slug(re.sub(r"\.ya?ml$", "", Path(origin).name)) or "campaign"
    if not is_name(name):
        hint = f"use {NAME_RULE}; write name: {slug(name) or 'my-campaign'}"
        raise table.spot_of("name").mistake(f"`{name[:60]}` cannot name a campaign", hint)
    return name


def _text(table: YamlMapping, key: str, hint: str) -> str | None:
    node = table.get(key)
    return None if node is None else expect_scalar(node, f"text after `{key}`", hint).text


def _section(table: YamlMapping, key: str, hint: str) -> Sequence[tuple[Scalar, Node]]:
    """Return the entries of a top-level mapping; none if the key is missing."""
    node = table.get(key)
    return () if node is None else expect_mapping(node, f"`{key}`", hint).entries


def _devices(table: YamlMapping) -> tuple[Device, ...]:
    return tuple(read_device(name, value) for name, value in _section(table, "devices", _DEVICES))


def _layouts(table: YamlMapping) -> tuple[Layout, ...]:
    found: list[Layout] = []
    for name, value in _section(table, "layouts", _LAYOUTS):
        hint = f"write {name.text}: 'btrfs raid1 a b'; put it in quotes if it contains `{{` inside a `{{…}}` mapping"
        expression = expect_scalar(value, f"a layout expression after `{name.text}`", hint)
        found.extend(make_layouts(name.text, expression.text, expression.spot))
    return tuple(found)


def _workloads(table: YamlMapping) -> tuple[Workload, ...]:
    entries = _section(table, "workloads", _WORKLOADS)
    return tuple(
        workload for name, value in entries for workload in expand_workload(name.text, read_workload(name, value))
    )
