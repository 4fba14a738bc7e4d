"""Find differences in the machine, program versions and campaign that may explain why two runs' results differ."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from poolproof.campaign.expression import format_expression
from poolproof.campaign.model import Campaign, Measure, Workload
from poolproof.campaign.write import format_source
from poolproof.load.generator import all_generators
from poolproof.results.runs.loading import LoadedRun
from poolproof.units import shown_bytes

ABSENT = "–"
_Facts = Mapping[str, str]
_ALWAYS_RECORDED = ("kernel", "distribution", "processors", "ram_bytes", "machine")
"""The facts that all versions of poolproof record.

All other facts were added later, or are kernel module settings.
"""

_DISK_SETTINGS = ("queue of ", "scheduler of ")


@dataclass(frozen=True)
class RunDifference:
    """A difference between two runs: its name, and its value in each run. A missing value is shown as a dash."""

    what: str
    a: str
    b: str


def run_differences(a: LoadedRun, b: LoadedRun) -> tuple[RunDifference, ...]:
    """Return the recorded differences that may affect results.

    Campaign names, paths and seeds are ignored. Kernel settings, queue settings of disks, devices, layouts and most
    program versions are compared only if both runs recorded them.
    """
    found = [*_differing(_machine(a), _machine(b))]
    found += _differing(_settings(a), _settings(b), in_both=True)
    found += _differing(_disk_settings(a), _disk_settings(b), in_both=True)
    found += _differing(_other_versions(a), _other_versions(b), in_both=True)
    found += _differing(_measure(a.campaign.measure), _measure(b.campaign.measure))
    found += _differing(_devices(a.campaign), _devices(b.campaign), in_both=True)
    found += _differing(_layouts(a.campaign), _layouts(b.campaign), in_both=True)
    for workload in a.campaign.workloads:
        other = b.workload(workload.name)
        if other is not None:
            found += _differing(_options(workload), _options(other), prefix=f"workload {workload.name}: ")
    return tuple(found)


def layout_difference(a: LoadedRun, layout_a: str, b: LoadedRun, layout_b: str) -> RunDifference:
    """Return the difference between the expressions of two layouts."""
    one, other = _layouts(a.campaign)[f"layout {layout_a}"], _layouts(b.campaign)[f"layout {layout_b}"]
    return RunDifference("layout", f"{layout_a}: {one}", f"{layout_b}: {other}")


def _programs() -> tuple[str, ...]:
    """Return the programs whose versions are compared even if only one run recorded them."""
    return ("poolproof", *all_generators())


def _machine(run: LoadedRun) -> _Facts:
    facts, versions = run.record.facts, run.record.versions
    found = {"host": run.record.host}
    for key, value in facts.items():
        if key in _ALWAYS_RECORDED:
            text = shown_bytes(value) if key.endswith("_bytes") else value
            found[key.removesuffix("_bytes").replace("_", " ")] = text
    return found | {name: versions[name] for name in _programs() if name in versions}


def _settings(run: LoadedRun) -> _Facts:
    return {key: value for key, value in run.record.facts.items() if key not in _ALWAYS_RECORDED and value}


def _disk_settings(run: LoadedRun) -> _Facts:
    """Return the queue settings of the disks, as the first trial of each layout recorded them.

    Loop devices that poolproof set up are left out, because the same loop device may be another disk in another run.
    """
    ours = ("queue of loop", "scheduler of loop") if run.campaign.devices else ()
    found = run.conditions.items()
    return {key: value for key, value in found if key.startswith(_DISK_SETTINGS) and not key.startswith(ours)}


def _other_versions(run: LoadedRun) -> _Facts:
    return {name: version for name, version in run.record.versions.items() if name not in _programs()}


def _measure(measure: Measure) -> _Facts:
    return {
        "time of a trial": _time(measure),
        "builds": str(measure.builds),
        "trials": str(measure.trials) if measure.most_trials is None else f"{measure.trials}..{measure.most_trials}",
        "cold": str(measure.cold).lower(),
        "calibrate": str(measure.calibrate).lower(),
    }


def _time(measure: Measure) -> str:
    until = measure.until
    if until is None:
        return f"{measure.time_s:g} s"
    text = f"until {100 * until.tolerance:g}% at {100 * until.confidence:g}%, {until.min_s:g} to {until.max_s:g} s"
    return text if until.steady == "poolproof" else f"{text}, steady by {until.steady}"


def _devices(campaign: Campaign) -> _Facts:
    return {f"device {device.name}": format_source(device.source) for device in campaign.devices}


def _layouts(campaign: Campaign) -> _Facts:
    return {f"layout {layout.name}": format_expression(layout.expression) for layout in campaign.layouts}


def _options(workload: Workload) -> _Facts:
    has_sections = len(workload.jobs) > 1
    options = {
        f"{job.name}.{key}" if has_sections else key: value for job in workload.jobs for key, value in job.options
    }
    cold = {} if workload.cold is None else {"cold": str(workload.cold).lower()}
    return {**options, "metric": workload.metric, "fill": str(workload.fill).lower(), **cold}


def _differing(a: _Facts, b: _Facts, *, in_both: bool = False, prefix: str = "") -> Iterator[RunDifference]:
    """Yield the facts that differ. `in_both`: whether to ignore facts that only one of the runs recorded."""
    for key in dict.fromkeys([*a, *b]):
        one, other = a.get(key, ABSENT), b.get(key, ABSENT)
        if one != other and not (in_both and (key not in a or key not in b)):
            yield RunDifference(prefix + key, one, other)
