"""The report's sections that need no script: claims, findings, limits, and how to repeat the run."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from poolproof.campaign.calibration import calibrated_device, calibration_of
from poolproof.campaign.expression import format_expression
from poolproof.campaign.model import Device, Disk, Emulated, LoopFile
from poolproof.errors import UsageError
from poolproof.load.generator import generator_in
from poolproof.presentation.charts.metric_scale import result_text
from poolproof.presentation.terminal.limited import doubt_text, how_text, over_text, share_text, without_limit
from poolproof.presentation.terminal.sections import CLAIM_MARKS, measured_text, scope_text
from poolproof.presentation.terminal.words import MARKS, value_text
from poolproof.results.compare.earlier_runs import AcrossRuns
from poolproof.results.runs.claim_results import ClaimResult, evaluate
from poolproof.results.runs.limit import Limit, bare_layouts, limits_of
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell
from poolproof.rules.model import EFFECTS, Finding
from poolproof.rules.rule_catalogue import rule
from poolproof.units import format_number_of, format_size, shown_bytes

_MOST_FIXES = 3
_MOST_JOBS = 100
Texts = tuple[str, ...]


def claim_rows(run: LoadedRun) -> list[tuple[ClaimResult, str, str]]:
    """Evaluate the campaign's claims, and return each result with its symbol and measured value as text."""
    claims = evaluate(run.campaign.expect, run.cells, AcrossRuns(run).widened)
    return [(claim, CLAIM_MARKS[claim.result], measured_text(claim)) for claim in claims]


def claims_scope(run: LoadedRun) -> str:
    """Return a sentence about the scope of the claims, or an empty string if the campaign makes no claims."""
    return scope_text(AcrossRuns(run).variance(speeds=False, claims=True), "claims") if run.campaign.expect else ""


def finding_groups(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Group the findings by rule, most serious first. The cells must be in the report's order.

    `effects`: the number of findings per effect.
    `places`: the number and name of each cell to which the rule applies.
    `asked`: whether the findings concern a metric that the campaign asks for. Groups for which this is false come last.
    """
    by_rule: dict[tuple[bool, str], list[tuple[int, Cell, Finding]]] = {}
    for number, cell in enumerate(cells):
        asked: dict[str, Finding] = {}
        for metric in (cell.metric, *sorted(cell.claimed)):
            for finding in cell.findings_on(metric):
                asked.setdefault(finding.rule, finding)
        for finding in dict.fromkeys((*asked.values(), *cell.findings)):
            by_rule.setdefault((asked.get(finding.rule) == finding, finding.rule), []).append((number, cell, finding))
    groups = [_finding_group(name, found, asked=asked) for (asked, name), found in by_rule.items()]
    return sorted(groups, key=lambda group: (not group["asked"], EFFECTS.index(group["effect"]), -len(group["places"])))


def _finding_group(name: str, found: Sequence[tuple[int, Cell, Finding]], *, asked: bool) -> dict[str, Any]:
    findings = [finding for _, _, finding in found]
    worst = min(findings, key=lambda finding: finding.rank)
    effects = Counter(finding.effect for finding in findings)
    try:
        title, wrong = rule(name).title, rule(name).wrong
    except UsageError:  # the run is from another version
        title, wrong = "a rule that this version of poolproof does not have", ""
    return {
        "rule": name,
        "asked": asked,
        "title": title,
        "wrong": wrong,
        "effect": worst.effect,
        "effects": sorted(effects.items(), key=lambda each: EFFECTS.index(each[0])),
        "example": worst.message,
        "fixes": [fix for fix, _ in Counter(finding.fix for finding in findings).most_common(_MOST_FIXES)],
        "places": [(number, str(cell.key)) for number, cell, _ in found],
    }


@dataclass(frozen=True)
class LimitSection:
    """The report's section on limits.

    `calibrates`: whether the campaign measures its disks individually.
    `bare_layouts`: the names of layouts that consist of a single bare disk, keyed by disk. Empty if `calibrates` is
    true.
    `bare`: one row per result of a bare disk, with the disk, the workload, the result, its verdict, and the other
    workloads to which the result also applies.
    `doubts`: the reasons why results in `bare` are not sound.
    `rows`: one row per result with a limit, with the layout, the workload, the result, the limit, the share of the
    limit, and the limit's formula.
    `over`: one sentence for each cell above 100%.
    `without`: the cells without a limit, and the reasons.
    """

    calibrates: bool
    bare_layouts: Mapping[str, str]
    bare: tuple[Texts, ...]
    doubts: Texts
    rows: tuple[Texts, ...]
    over: Texts
    without: Texts


def limit_section(run: LoadedRun, cells: Sequence[Cell]) -> LimitSection:
    """Return the report's section on limits. If no disk was measured individually, `rows` is empty."""
    limits = limits_of(cells, run.bare, run.campaign)
    own = [(cell, limits.get(cell.key)) for cell in cells]
    known = [(cell, limit) for cell, limit in own if isinstance(limit, Limit)]
    calibrates = run.campaign.measure.calibrate
    doubts = ((cell, doubt_text(cell)) for cell in run.bare)
    return LimitSection(
        calibrates=calibrates,
        bare_layouts={} if calibrates else bare_layouts(run.campaign),
        bare=_bare_rows(run),
        doubts=tuple(f"{_mark(cell)} {_disk(cell)} alone, {cell.workload}: {doubt}" for cell, doubt in doubts if doubt),
        rows=tuple(_limit_row(cell, limit) for cell, limit in known),
        over=tuple(over_text(cell, limit) for cell, limit in known if limit.over),
        without=without_limit(own),
    )


def _disk(bare: Cell) -> str:
    return calibrated_device(bare.layout) or bare.layout


def _mark(cell: Cell) -> str:
    return MARKS[cell.result().verdict]


def _bare_rows(run: LoadedRun) -> tuple[Texts, ...]:
    """Return the rows for `LimitSection.bare`. The last column is omitted if no result applies to other workloads."""
    measured_as = calibration_of(run.campaign).measured_as
    rows = []
    for cell in run.bare:
        covers = ", ".join(
            name for name, bare in measured_as.items() if bare == cell.workload and name != cell.workload
        )
        verdict = f"{_mark(cell)} {cell.result().verdict}"
        rows.append((_disk(cell), cell.workload, result_text(cell, cell.metric), verdict, covers))
    return tuple(rows if any(row[-1] for row in rows) else (row[:-1] for row in rows))


def _limit_row(cell: Cell, limit: Limit) -> Texts:
    result, most = result_text(cell, cell.metric), value_text(limit.most, cell.metric)
    return (
        cell.layout_in_state,
        cell.workload,
        f"{_mark(cell)} {result}",
        most,
        share_text(limit),
        how_text(limit, cell.metric),
    )


def repeat_section(run: LoadedRun) -> dict[str, Any]:
    """Return the data needed to repeat the run, taken from run.json, the campaign and the job files.

    `facts`, `disks`: pairs of a name and a value.
    `jobs`: pairs of a workload and the contents of its job file.
    `jobs_more`: the number of jobs that are not shown.
    `jobs_missing`: the number of job files that are missing.
    `missing_files`: the names of those files.
    """
    names = list(dict.fromkeys(cell.workload for cell in run.cells))
    by_workload: dict[str, list[Trial]] = {}
    for trial in run.trials:
        if calibrated_device(trial.layout) is None:
            by_workload.setdefault(trial.workload, []).append(trial)
    jobs = {name: _job(run, name, by_workload.get(name, ())) for name in names[:_MOST_JOBS]}
    missing = [_load_file(run, name) for name, text in jobs.items() if text is None]
    disks = [(device.name, _source(device)) for device in run.campaign.devices]
    layouts = [(layout.name, f"`{format_expression(layout.expression)}`") for layout in run.campaign.layouts]
    return {
        "facts": list(_facts(run)) if run.has_record else [],
        "disks": disks + layouts,
        "campaign": run.given,
        "jobs": [(name, text) for name, text in jobs.items() if text is not None],
        "jobs_more": len(names) - len(jobs),
        "jobs_missing": len(missing),
        "missing_files": " or ".join(dict.fromkeys(missing)),
    }


def _facts(run: LoadedRun) -> Iterator[Texts]:
    record = run.record
    yield from (("run", run.path.name), ("started", record.begun_at), ("host", record.shown_host))
    for name, value in record.facts.items():
        yield ("ram", shown_bytes(value)) if name == "ram_bytes" else (name, value)
    yield from ((f"{name} version", value) for name, value in record.versions.items())
    yield "seed for the trial order", str(record.seed)
    if (lab := record.lab) is not None:
        processors = format_number_of(lab.processors, "processor")
        yield "lab", f"OpenZFS {lab.zfs}, {format_size(lab.ram_bytes)} RAM, {processors}"


def _source(device: Device) -> str:
    match device.source:
        case Disk(identity):
            return f"disk {identity}"
        case Emulated(model, size_bytes):
            return f"emulated {model}, {format_size(size_bytes)}"
        case LoopFile(size_bytes):
            return f"{format_size(size_bytes)} file on a loop device"
        case qcow2:
            return f"{format_size(qcow2.size_bytes)} qcow2 image"


def _load_file(run: LoadedRun, workload: str) -> str:
    found = run.workload(workload)
    return generator_in(dict(found.jobs[0].options) if found else {}).load_file


def _job(run: LoadedRun, workload: str, trials: Sequence[Trial]) -> str | None:
    name = _load_file(run, workload)
    for trial in trials:
        with contextlib.suppress(OSError):
            return run.trial_file(trial, name).decode("utf-8", errors="replace")
    return None
