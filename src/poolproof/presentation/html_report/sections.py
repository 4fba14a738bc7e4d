"""The sections of the page that are plain HTML: findings by rule, the limit of the disks, and how to repeat the run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.campaign.calibration import calibrated_device, calibration_of
from poolproof.campaign.grammar import format_expression
from poolproof.campaign.model import Device, Disk, Emulated, LoopFile
from poolproof.errors import UsageError
from poolproof.presentation.charts.metrics import figure_words
from poolproof.presentation.terminal.limited import doubt_text, how_text, over_text, share_text, without_limit
from poolproof.presentation.terminal.words import MARKS, value_text
from poolproof.results.runs.limit import Limit, bare_layouts, limits_of
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.summary import Cell
from poolproof.rules.catalogue import rule
from poolproof.rules.model import Effect, Finding
from poolproof.units import format_size
from poolproof.verdicts import Verdict

_EFFECTS: tuple[Effect, ...] = ("fails", "refutes", "suspects", "notes")
_MOST_PLACES = 12
_MOST_FIXES = 3
_MOST_OVER = 12
_MOST_JOBS = 100


@dataclass(frozen=True)
class FindingGroup:
    """What one rule found in the run. `effects` counts the cells by the effect on their figure.

    `places` are (number of the cell, its name); `more` is how many are not named.
    """

    rule: str
    title: str
    wrong: str
    effect: Effect
    effects: tuple[tuple[Effect, int], ...]
    example: str
    fixes: tuple[str, ...]
    places: tuple[tuple[int, str], ...]
    more: int


def finding_groups(cells: Sequence[Cell]) -> tuple[FindingGroup, ...]:
    """Return a group for each rule that found something, the most serious first. `cells` in the order of the page."""
    by_rule: dict[str, list[tuple[int, Cell, Finding]]] = {}
    for number, cell in enumerate(cells):
        for finding in cell.findings:
            by_rule.setdefault(finding.rule, []).append((number, cell, finding))
    groups = [_finding_group(name, found) for name, found in by_rule.items()]
    return tuple(sorted(groups, key=lambda group: (_EFFECTS.index(group.effect), -len(group.places) - group.more)))


def _finding_group(name: str, found: Sequence[tuple[int, Cell, Finding]]) -> FindingGroup:
    worst = min(found, key=lambda each: (_EFFECTS.index(each[2].effect), -each[2].weight))[2]
    effects = [finding.effect for _, _, finding in found]
    fixes = [finding.fix for _, _, finding in found]
    title, wrong = _rule_texts(name)
    return FindingGroup(
        rule=name,
        title=title,
        wrong=wrong,
        effect=worst.effect,
        effects=tuple((effect, effects.count(effect)) for effect in _EFFECTS if effect in effects),
        example=worst.message,
        fixes=tuple(sorted(dict.fromkeys(fixes), key=fixes.count, reverse=True)[:_MOST_FIXES]),
        places=tuple((number, f"{cell.workload} on {cell.layout}") for number, cell, _ in found[:_MOST_PLACES]),
        more=max(0, len(found) - _MOST_PLACES),
    )


def _rule_texts(name: str) -> tuple[str, str]:
    """Return the title and the explanation of a rule; a run of another version may name an unknown one."""
    try:
        known = rule(name)
    except UsageError:
        return "a rule that this poolproof does not know", ""
    return known.title, known.wrong


@dataclass(frozen=True)
class LimitRow:
    """A cell in the table of limits: its figure, its limit, the share, and how the limit is computed."""

    layout: str
    workload: str
    mark: str
    figure: str
    limit: str
    share: str
    how: str


@dataclass(frozen=True)
class BareRow:
    """What one disk gave alone under one workload, which also covers `covers`; `doubt` says why it is not sound."""

    disk: str
    workload: str
    figure: str
    verdict: Verdict
    mark: str
    covers: tuple[str, ...]
    doubt: str


@dataclass(frozen=True)
class LimitSection:
    """`calibrates`: the campaign measures its disks alone; else `stand_ins` are layouts of a disk alone, by disk.

    `over` is a sentence for each cell above 100 %, `more_over` how many are not listed. `without` says which cells have
    no limit, and why.
    """

    calibrates: bool
    stand_ins: Mapping[str, str]
    bare: tuple[BareRow, ...]
    rows: tuple[LimitRow, ...]
    over: tuple[str, ...]
    more_over: int
    without: tuple[str, ...]

    @property
    def has_unsettled(self) -> bool:
        """True if a share comes from figures that did not settle."""
        return any(row.share.startswith("~") for row in self.rows)

    @property
    def has_covered(self) -> bool:
        """True if a figure of a disk alone covers more than one workload."""
        return any(each.covers for each in self.bare)


def limit_section(seen: LoadedRun, cells: Sequence[Cell]) -> LimitSection:
    """Return what the page says about the limits of its cells; without rows if no disk was measured alone."""
    limits = limits_of(cells, seen.bare, seen.campaign)
    own = [(cell, limits.get(cell.key)) for cell in cells]
    known = [(cell, limit) for cell, limit in own if isinstance(limit, Limit)]
    over = [over_text(cell, limit) for cell, limit in known if limit.over]
    calibrates = seen.campaign.measure.calibrate
    return LimitSection(
        calibrates=calibrates,
        stand_ins={} if calibrates else bare_layouts(seen.campaign),
        bare=tuple(_bare_rows(seen)),
        rows=tuple(_limit_row(cell, limit) for cell, limit in known),
        over=tuple(over[:_MOST_OVER]),
        more_over=max(0, len(over) - _MOST_OVER),
        without=without_limit(own),
    )


def _bare_rows(seen: LoadedRun) -> Iterator[BareRow]:
    stands_for = calibration_of(seen.campaign).stands_for
    for cell in seen.bare:
        covers = tuple(name for name, bare in stands_for.items() if bare == cell.workload and name != cell.workload)
        disk, figure = calibrated_device(cell.layout) or cell.layout, figure_words(cell, cell.metric)
        yield BareRow(disk, cell.workload, figure, cell.verdict, MARKS[cell.verdict], covers, doubt_text(cell))


def _limit_row(cell: Cell, limit: Limit) -> LimitRow:
    return LimitRow(
        layout=cell.layout,
        workload=cell.workload,
        mark=MARKS[cell.verdict],
        figure=figure_words(cell, cell.metric),
        limit=value_text(limit.most, cell.metric),
        share=share_text(limit),
        how=how_text(limit, cell.metric),
    )


@dataclass(frozen=True)
class Repeat:
    """All that repeats the run. `facts` are (name, value), `jobs` (workload, job file).

    `jobs_more` is how many jobs are not shown, `jobs_missing` of how many workloads the file is missing.
    """

    facts: tuple[tuple[str, str], ...]
    disks: tuple[tuple[str, str], ...]
    layouts: tuple[tuple[str, str], ...]
    campaign: str
    jobs: tuple[tuple[str, str], ...]
    jobs_more: int
    jobs_missing: int


def repeat_section(seen: LoadedRun) -> Repeat:
    """Return what run.json, the campaign and the job files say."""
    names = list(dict.fromkeys(cell.workload for cell in seen.cells))
    jobs = {name: _job(seen, name) for name in names[:_MOST_JOBS]}
    return Repeat(
        facts=tuple(_facts(seen)),
        disks=tuple((device.name, _source(device)) for device in seen.campaign.devices),
        layouts=tuple((layout.name, format_expression(layout.expression)) for layout in seen.campaign.layouts),
        campaign=seen.given,
        jobs=tuple((name, text) for name, text in jobs.items() if text is not None),
        jobs_more=len(names) - len(jobs),
        jobs_missing=sum(text is None for text in jobs.values()),
    )


def _facts(seen: LoadedRun) -> Iterator[tuple[str, str]]:
    record = seen.record
    if not seen.has_record:
        return
    yield "run", str(seen.path.name)
    yield "begun", record.begun_at
    yield "host", record.host
    for name, value in record.facts.items():
        yield name.removesuffix("_bytes"), format_size(int(value)) if name == "ram_bytes" and value.isdigit() else value
    for name, value in record.versions.items():
        yield f"version of {name}", value
    yield "seed of the order of trials", str(record.seed)
    if record.lab is not None:
        lab = record.lab
        yield "lab", f"OpenZFS {lab.zfs}, {format_size(lab.ram_bytes)} RAM, {lab.processors} processors"


def _source(device: Device) -> str:
    match device.source:
        case Disk(identity):
            return f"disk {identity}"
        case Emulated(model, size_bytes):
            return f"emulated {model}, {format_size(size_bytes)}"
        case LoopFile(size_bytes):
            return f"file of {format_size(size_bytes)} on a loop device"
        case qcow2:
            return f"qcow2 image of {format_size(qcow2.size_bytes)}"


def _job(seen: LoadedRun, workload: str) -> str | None:
    """Return the job file of the first trial of a workload that has one, on a layout and not on a disk alone."""
    for trial in seen.trials:
        if trial.workload == workload and calibrated_device(trial.layout) is None:
            path = seen.trial_file(trial, "job.fio")
            if path.is_file():
                return path.read_text(encoding="utf-8", errors="replace")
    return None
