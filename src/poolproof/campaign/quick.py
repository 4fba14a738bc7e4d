"""The `quick` section of a campaign file: a short version of the campaign, for a first look and for tests."""

from collections.abc import Iterator
from dataclasses import replace

from poolproof.campaign.claims import Claim, places
from poolproof.campaign.document import Node, YamlMapping, expect_mapping, unknown_key
from poolproof.campaign.measure import read_measure
from poolproof.campaign.model import Campaign, Measure, OptionValues, Quick, Workload, WorkloadRequest
from poolproof.campaign.names import did_you_mean, listed
from poolproof.campaign.workload import check_size, expand_workload, read_options

KEYS = ("workloads", "measure")
_EXAMPLE = "write quick: {workloads: {grid: {bs: 4k}}, measure: {time: 2s, trials: 1}}"


def read_quick(node: Node, workloads: tuple[Workload, ...], measure: Measure, *, recorded: bool = False) -> Quick:
    """Read the `quick` section: which workloads `--quick` keeps, and how it changes `measure`.

    Raises:
        CampaignError: an unknown key, an unknown workload, or a value of the wrong type.
    """
    table = expect_mapping(node, "`quick`", _EXAMPLE)
    for key, _ in table.entries:
        if key.text not in KEYS:
            raise unknown_key(key, KEYS, "`quick`")
    asked, chosen = table.get("measure"), table.get("workloads")
    return Quick(
        measure=read_measure(asked, measure, recorded=recorded) if asked else measure,
        workloads=tuple(_changes(expect_mapping(chosen, "`quick: workloads`", _EXAMPLE), workloads)) if chosen else (),
    )


def _changes(table: YamlMapping, workloads: tuple[Workload, ...]) -> Iterator[tuple[str, OptionValues]]:
    requests = _requests(workloads)
    for name, value in table.entries:
        if name.text not in requests:
            guess = did_you_mean(name.text, requests)
            raise name.spot.mistake(f"the campaign has no workload `{name.text[:60]}`{guess}", listed(requests))
        where = f"`quick` of workload `{name.text}`"
        changes = read_options(expect_mapping(value, where, f"write {name.text}: {{}} to keep it unchanged"), where)
        check_size(_changed(requests[name.text], changes), name.spot)
        yield name.text, changes


def quick_of(campaign: Campaign) -> Campaign:
    """Return the short version of a campaign that has one, without the claims about cells that it omits."""
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
    expect = tuple(claim for claim in campaign.expect if _workloads_of(claim) <= names)
    return replace(
        campaign, workloads=workloads, measure=campaign.quick.measure, expect=expect, quick=None, budget_s=None
    )


def _workloads_of(claim: Claim) -> set[str]:
    return {workload for _layout, workload, _device in places(claim.that)}


def _requests(workloads: tuple[Workload, ...]) -> dict[str, WorkloadRequest]:
    """Return the request of each family of workloads."""
    return {workload.family: workload.request for workload in workloads if workload.request is not None}


def _changed(request: WorkloadRequest, changes: OptionValues) -> WorkloadRequest:
    """Return the request with these options in all its sections, replacing those it had."""
    new = dict(changes)
    jobs = tuple(
        (section, tuple((key, values) for key, values in options if key not in new))
        for section, options in request.jobs
    )
    return replace(request, options=tuple({**dict(request.options), **new}.items()), jobs=jobs)
