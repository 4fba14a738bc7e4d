"""Who hears the rates of a trial while fio runs: the run's own listener, and those who watch from other processes."""

from poolproof.measure.events import Listener, LiveRates
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.live import LiveLine, LiveNotes


class RatePublisher:
    """Tells the rates of one trial; called from the thread that watches fio."""

    def __init__(self, listener: Listener, run: RunDirectory, key: tuple[str, str, int]) -> None:
        self._listener, self._key = listener, key
        self._notes = LiveNotes(run)
        self._is_watched = False

    def is_heard(self) -> bool:
        """Whether anybody wants to hear just now: asked before fio's report is read for it."""
        self._is_watched = self._notes.are_wanted
        return self._listener.wants_live or self._is_watched

    def tell(self, rates: LiveRates) -> None:
        """Rates of the last second."""
        if self._listener.wants_live:
            self._listener.live(rates)
        if self._is_watched:
            self._notes.write(LiveLine(*self._key, rates.elapsed_s, rates.fio_bytes_per_s, rates.leaf_bytes_per_s))
