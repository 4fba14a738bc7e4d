"""What a run tells whoever watches it. A watcher overrides what it wants to hear; this one hears nothing."""

from dataclasses import dataclass

from poolproof.results.runs.model import Trial


@dataclass(frozen=True)
class LiveRates:
    """Rates of the last second, bytes per second: fio's own count beside the leaf disks'. fio None: not known yet."""

    elapsed_s: float
    fio_bytes_per_s: float | None
    leaf_bytes_per_s: float


class Listener:
    """Every method is called from the thread that measures, except `live`."""

    wants_live = False
    """Whether `live` is to be called; others who watch are told in any case."""

    def campaign_begins(self, trials_to_do: int, trials_done: int) -> None:
        """The plan stands; that many trials are ahead, and so many are finished from before."""

    def layout_begins(self, layout: str, trials_to_do: int) -> None:
        """A layout is about to be built."""

    def trial_added(self, layout: str, workload: str) -> None:
        """The trials of a cell do not agree yet: it gets one more than was planned."""

    def step(self, title: str) -> None:
        """What is happening now, in plain words."""

    def trial_begins(self, layout: str, workload: str, number: int) -> None:
        """fio is about to start."""

    def live(self, rates: LiveRates) -> None:
        """Once a second while fio runs; from a thread of its own."""

    def trial_ends(self, trial: Trial) -> None:
        """The trial is finished, judged and on disk."""

    def warning(self, message: str) -> None:
        """Something went wrong that did not end the run."""
