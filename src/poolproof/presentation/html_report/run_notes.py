"""The notes below the report's headline that concern the whole run: its scope, its builds and its duration."""

from collections.abc import Iterable, Iterator

from poolproof.errors import as_word
from poolproof.presentation.terminal.compared import run_variance_text
from poolproof.presentation.terminal.sections import elimination_lines
from poolproof.presentation.terminal.words import builds_text, emulated_legend
from poolproof.results.compare.earlier_runs import earlier_runs
from poolproof.results.compare.measured import in_groups
from poolproof.results.runs.elimination import elimination_of
from poolproof.results.runs.loading import LoadedRun
from poolproof.results.runs.model import Trial
from poolproof.results.runs.resumes import resumes_text
from poolproof.units import format_duration, format_number_of


def run_notes(run: LoadedRun) -> Iterator[str]:
    """Yield sentences about emulated disks, eliminated layouts, builds, missing trials, the scope and the duration."""
    for notes in (_emulated, _eliminated, _builds, _missing, _holds_for, _cost):
        yield from notes(run)


def _emulated(run: LoadedRun) -> Iterator[str]:
    if note := emulated_legend(run.cells).removeprefix("* "):
        yield f"{note[0].upper()}{note[1:]}."


def _eliminated(run: LoadedRun) -> Iterator[str]:
    """Yield sentences about layouts that adaptive sampling eliminated, and the risk that the best one is among them."""
    found = elimination_of(run.trials, run.campaign)
    if found is not None and found.dropped:
        yield from (f"{line[0].upper()}{line[1:]}." for line in elimination_lines(found))


def _builds(run: LoadedRun) -> Iterator[str]:
    """Yield a sentence about the number of builds per result, and sentences about failed builds."""
    if run.by_build:
        yield (
            f"Each result is the mean of {builds_text(run.cells)} of its layout; the intervals account for the "
            "differences between its builds."
        )
    failed = [(str(cell.key), cell.failed_builds.message) for cell in run.cells if cell.failed_builds is not None]
    yield from (f"{line}." for line in in_groups(failed))


def _missing(run: LoadedRun) -> Iterator[str]:
    done = run.done
    if done < run.wanted and not run.record.imported:
        yield f"{done} of {run.wanted} trials {'is' if done == 1 else 'are'} done; {_why_not_all(run)}"
    elif run.is_going:
        more = ": cells whose trials disagree may get more trials" if run.campaign.measure.until is not None else ""
        yield f"The run is in progress{more}."
    measure = run.campaign.measure
    if measure.trials_max * measure.builds == 1 and run.trials:
        yield "Each cell has a single trial, so results have no interval and no difference between them is significant."


def _why_not_all(run: LoadedRun) -> str:
    if run.is_going:
        return "the run is in progress."
    if run.left_out:
        return f"{format_number_of(run.left_out, 'recorded trial')} cannot be read."
    budget_s = run.campaign.budget_s
    spent = "" if budget_s is None else f"the budget of {format_duration(budget_s)} is spent, or "
    return f"{spent}the run was stopped. To continue: poolproof resume {as_word(run.path)}"


def _holds_for(run: LoadedRun) -> Iterator[str]:
    """Yield sentences about the scope of the answer: the machine, the builds and the days for which it holds."""
    if run.record.imported or not run.trials:
        return
    if text := resumes_text(run.record, run.trials):
        yield text
    host = run.record.shown_host
    days = sorted({trial.begun_at[:10] for trial in run.trials if trial.begun_at} or {run.record.begun_at[:10]})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    variance = earlier_runs(run, {}).variance(cell.metric for cell in run.cells)
    if variance.runs:
        included = run_variance_text("the intervals of differences between layouts", variance)
        yield f"This applies to {host}. {included}"
    elif run.by_build:
        yield f"This applies to {host} and {when}. How much results differ between days was not measured."
    else:
        yield (
            f"This applies to {host}, these builds of the layouts and {when}. How much results differ between builds "
            "and between days was not measured."
        )


def _cost(run: LoadedRun) -> Iterator[str]:
    """Yield a sentence about the total running time of the load.

    With `until`, compare it with that of a fixed schedule.
    """
    trials = [trial for cell in run.cells for trial in cell.all_trials]
    spent_s, alone_s = _fio_s(trials), _fio_s(trial for cell in run.bare for trial in cell.all_trials)
    if not spent_s:
        return
    count = format_number_of(len(trials), "trial")
    text = f"{run.campaign.generator_names} ran for {format_duration(spent_s)} in {count}"
    text += f", and for {format_duration(alone_s)} on single disks" if alone_s else ""
    measure = run.campaign.measure
    is_complete = not run.is_going and (run.done >= run.wanted or run.campaign.budget_s is not None)
    if measure.until is not None and is_complete:
        planned = measure.builds * measure.trials
        longest_s = planned * measure.longest_s
        fixed_s = sum(cell.settling.fixed_s if cell.settling else longest_s for cell in run.cells)
        fixed = f"{format_number_of(planned, 'trial')} of maximum length per cell"
        text += f"; a fixed schedule ({fixed}) would have taken {format_duration(fixed_s)}"
    yield f"{text}."


def _fio_s(trials: Iterable[Trial]) -> float:
    return sum(trial.seconds.get("fio", 0.0) for trial in trials)
