"""Read a campaign file into a frozen Campaign. Error messages give the file, the line and a correction."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from poolproof.campaign.check import MOST_CELLS, check_campaign, check_references
from poolproof.campaign.claims import places, read_claims
from poolproof.campaign.device_source import read_device
from poolproof.campaign.document import (
    Node,
    Scalar,
    Spot,
    YamlMapping,
    check_keys,
    expect_mapping,
    expect_scalar,
    parse_document,
)
from poolproof.campaign.layout import make_layouts
from poolproof.campaign.measure import duration, read_measure
from poolproof.campaign.model import Campaign, Layout, Measure, OptionValues, Quick, Workload, WorkloadRequest
from poolproof.campaign.names import NAME_RULE, choices, did_you_mean, is_name, slug
from poolproof.campaign.trial_length import with_enough_time
from poolproof.campaign.workload import (
    MOST_OPTIONS,
    check_size,
    expand_workload,
    expanded_size,
    read_options,
    read_workload,
)
from poolproof.errors import CampaignError, one_line
from poolproof.files.reading import open_named

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
"""The keys of `measure` whose location is recorded, because errors about the whole campaign refer to them."""
QUICK_KEYS = ("workloads", "measure")
_DEVICES = "write devices: {a: {file: 16G}, b: {emulate: hdd-7200, size: 16G}}"
_LAYOUTS = "write layouts: {mirror: 'btrfs raid1 a b'}"
_WORKLOADS = "write workloads: {etcd: etcd, reads: {rw: randread, bs: 16k}}"
_QUICK = "write quick: {workloads: {grid: {bs: 4k}}, measure: {time: 2s, trials: 1}}"
_EMPTY = "a campaign needs at least `layouts:` and `workloads:`"
_GIVE_A_FILE = "give the path of a campaign's YAML file"
_MOST_BYTES = 1024 * 1024
_LONGEST_QUESTION = 10_000


def read_campaign(path: Path | str) -> Campaign:
    """Read a campaign file. Raises a CampaignError if the file cannot be read or contains a mistake."""
    try:
        with open_named(Path(path)) as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise CampaignError(f"{path} is larger than 1 MiB, the limit for a campaign", _GIVE_A_FILE)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CampaignError(f"{path} cannot be read: {reason}", _GIVE_A_FILE) from None
    return parse_campaign(text, str(path))


def parse_campaign(text: str, origin: str, *, recorded: bool = False) -> Campaign:
    """Parse a campaign without contacting a host.

    `origin`: the source's name in error messages. The campaign is named after it if it does not set `name`.
    `recorded`: True if the campaign is part of a run. Such a campaign was fully checked before the run, so only its
    references are checked again.

    Raises a CampaignError if the campaign contains a mistake.
    """
    root = parse_document(text, origin)
    if root is None or (isinstance(root, Scalar) and root.is_nothing):
        raise CampaignError(f"{origin}: the campaign is empty", _EMPTY)
    table = expect_mapping(root, "a campaign", _EMPTY)
    check_keys(table, KEYS, "the campaign")
    campaign = _campaign(table, origin, recorded=recorded)
    campaign = campaign if recorded else with_enough_time(campaign)
    measure = table.get("measure")
    in_measure = measure if isinstance(measure, YamlMapping) else YamlMapping((), table.spot)
    check = check_references if recorded else check_campaign
    spots = {key: table.spot_of(key) for key in KEYS}
    check(campaign, spots | {key: in_measure.spot_of(key) for key in KEYS_IN_MEASURE})
    if campaign.quick is not None:
        check(quick_of(campaign), dict.fromkeys((*KEYS, *KEYS_IN_MEASURE), table.spot_of("quick")))
    return campaign


def quick_of(campaign: Campaign) -> Campaign:
    """Return the quick variant of a campaign, which must have a `quick` section.

    The budget is dropped, and so are claims about workloads that the quick variant omits.
    """
    assert campaign.quick is not None, "checked by the caller"
    workloads = campaign.workloads
    if campaign.quick.workloads:
        requests = _requests(workloads)
        workloads = tuple(
            workload
            for name, changes in campaign.quick.workloads
            for workload in expand_workload(name, _changed(requests[name], changes))
        )
    names = {workload.name for workload in workloads}
    expect = tuple(claim for claim in campaign.expect if {cell[1] for cell in places(claim.that)} <= names)
    return replace(
        campaign, workloads=workloads, measure=campaign.quick.measure, expect=expect, quick=None, budget_s=None
    )


def _campaign(table: YamlMapping, origin: str, *, recorded: bool) -> Campaign:
    measure, expect, quick = table.get("measure"), table.get("expect"), table.get("quick")
    workloads = tuple(_workloads(table))
    how = read_measure(measure, recorded=recorded) if measure else Measure(is_default_time=True)
    return Campaign(
        name=_name(table, origin),
        question=_question(table),
        devices=tuple(read_device(name, value) for name, value in _section(table, "devices", _DEVICES)),
        layouts=tuple(_layouts(table)),
        workloads=workloads,
        measure=how,
        baseline=_text(table, "baseline", "write baseline: NAME-OF-A-LAYOUT"),
        goal=_text(table, "goal", "write goal: NAME-OF-A-WORKLOAD"),
        expect=read_claims(expect) if expect else (),
        quick=_read_quick(quick, workloads, how, recorded=recorded) if quick else None,
        budget_s=_budget_s(table),
        budget_origin=str(table.spot_of("budget")),
    )


def _budget_s(table: YamlMapping) -> float | None:
    text = _text(table, "budget", "write budget: 2h")
    return None if text is None else duration(text, table.spot_of("budget"), "budget")


def _name(table: YamlMapping, origin: str) -> str:
    name = _text(table, "name", "write name: my-campaign")
    if name is None:
        return slug(re.sub(r"\.ya?ml$", "", Path(origin).name)) or "campaign"
    if not is_name(name):
        hint = f"use {NAME_RULE}; write name: {slug(name) or 'my-campaign'}"
        raise table.spot_of("name").mistake(f"`{name[:60]}` is not a valid campaign name", hint)
    return name


def _question(table: YamlMapping) -> str:
    question = one_line(_text(table, "question", "write question: Which layout is faster?") or "")
    if len(question) > _LONGEST_QUESTION:  # every output shows it
        raise table.spot_of("question").mistake(
            f"the question has more than {_LONGEST_QUESTION} characters", "write the details in comments"
        )
    return question


def _text(table: YamlMapping, key: str, hint: str) -> str | None:
    node = table.get(key)
    return None if node is None else expect_scalar(node, f"text after `{key}`", hint).text


def _section(table: YamlMapping, key: str, hint: str) -> Sequence[tuple[Scalar, Node]]:
    """Return the entries of a top-level mapping, or an empty sequence if the campaign does not have the key."""
    node = table.get(key)
    return () if node is None else expect_mapping(node, f"`{key}`", hint).entries


class _Expanded:
    """Counts what the lists and braces of a campaign expand to. A small file can describe billions of cells."""

    def __init__(self) -> None:
        self._layouts, self._workloads, self._options = 0, 0, 0

    def add_layouts(self, count: int, spot: Spot) -> None:
        """Raise a CampaignError if there are now more layouts than a campaign may have cells."""
        self._layouts += count
        self._check(self._layouts, MOST_CELLS, "layouts", spot)

    def add_workloads(self, request: WorkloadRequest, spot: Spot) -> None:
        """Raise a CampaignError if there are now too many workloads, or too many options in them."""
        size = expanded_size(request)
        self._workloads += size.workloads
        self._options += size.options
        self._check(self._workloads, MOST_CELLS, "workloads", spot)
        self._check(self._options, MOST_OPTIONS, "options in its workloads", spot)

    def _check(self, count: int, most: int, what: str, spot: Spot) -> None:
        if count > most:
            raise spot.mistake(f"the campaign has more than {most} {what}", "split it into several campaigns")


def _workloads(table: YamlMapping) -> Iterator[Workload]:
    expanded = _Expanded()
    for name, value in _section(table, "workloads", _WORKLOADS):
        request = read_workload(name, value)
        expanded.add_workloads(request, name.spot)
        yield from expand_workload(name.text, request)


def _layouts(table: YamlMapping) -> Iterator[Layout]:
    expanded = _Expanded()
    for name, value in _section(table, "layouts", _LAYOUTS):
        hint = f"write {name.text}: 'btrfs raid1 a b'; inside a `{{…}}` mapping, an expression with `{{` needs quotes"
        expression = expect_scalar(value, f"a layout expression after `{name.text}`", hint)
        layouts = make_layouts(name.text, expression.text, expression.spot)
        expanded.add_layouts(len(layouts), name.spot)
        yield from layouts


def _read_quick(node: Node, workloads: tuple[Workload, ...], measure: Measure, *, recorded: bool) -> Quick:
    """Read the `quick` section: the workloads to run with `--quick`, and changes to their options and to `measure`."""
    table = expect_mapping(node, "`quick`", _QUICK)
    check_keys(table, QUICK_KEYS, "`quick`")
    changed, chosen = table.get("measure"), table.get("workloads")
    return Quick(
        measure=read_measure(changed, measure, recorded=recorded) if changed else measure,
        workloads=tuple(_changes(expect_mapping(chosen, "`quick: workloads`", _QUICK), workloads)) if chosen else (),
    )


def _changes(table: YamlMapping, workloads: tuple[Workload, ...]) -> Iterator[tuple[str, OptionValues]]:
    requests, expanded = _requests(workloads), _Expanded()
    for name, value in table.entries:
        if name.text not in requests:
            guess = did_you_mean(name.text, requests)
            hint = choices("workload", [*requests])
            raise name.spot.mistake(f"the campaign has no workload `{name.text[:60]}`{guess}", hint)
        where = f"`quick` of workload `{name.text}`"
        changes = read_options(expect_mapping(value, where, f"write {name.text}: {{}} to keep it unchanged"), where)
        expanded.add_workloads(check_size(_changed(requests[name.text], changes), name.spot), name.spot)
        yield name.text, changes


def _requests(workloads: tuple[Workload, ...]) -> dict[str, WorkloadRequest]:
    """Return the request of each workload family, keyed by the family's name."""
    return {workload.family: workload.request for workload in workloads if workload.request is not None}


def _changed(request: WorkloadRequest, changes: OptionValues) -> WorkloadRequest:
    """Return a copy of the request with these options changed in all job sections."""
    new = dict(changes)
    jobs = tuple(
        (section, tuple((key, values) for key, values in options if key not in new))
        for section, options in request.jobs
    )
    return replace(request, options=tuple({**dict(request.options), **new}.items()), jobs=jobs)
