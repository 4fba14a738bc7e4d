"""The events of a run. A listener overrides the methods it needs; the base class ignores everything."""

from dataclasses import dataclass

from poolproof.results.runs.model import Trial


@dataclass(frozen=True)
class LiveRates:
    """Rates of the last second in bytes per second: by fio (None: not known yet) and by the leaf devices."""

    elapsed_s: float
    fio_bytes_per_s: float | None
    leaf_bytes_per_s: float


class Listener:
    """Every method is called from the thread that measures, except `live`."""

    wants_live = False
    """True if `live` should be called; processes that watch the run get the rates in any case."""

    def campaign_begins(self, trials_to_do: int, trials_done: int) -> None:
        """The run starts; `trials_done` were finished earlier."""

    def layout_begins(self, layout: str, trials_to_do: int) -> None:
        """A layout is about to be built."""

    def trial_added(self, layout: str, workload: str) -> None:
        """A cell is not precise yet and gets one more trial than planned."""

    def step(self, title: str) -> None:
        """A new step starts; `title` describes it for a person."""

    def trial_begins(self, layout: str, workload: str, number: int) -> None:
        """fio is about to start."""

    def live(self, rates: LiveRates) -> None:
        """Called once a second while fio runs, from another thread."""

    def trial_ends(self, trial: Trial) -> None:
        """The trial is finished, judged and saved."""

    def warning(self, message: str) -> None:
        """Something went wrong, but the run continues."""
