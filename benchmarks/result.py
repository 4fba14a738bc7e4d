"""One measured claim, and how it is printed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A value and its limit. `unit` is the unit of both, and `detail` says how the value was obtained.

    `low` and `high` are its 95 % interval, if it has one. The claim passes if `high` is within the limit and fails if
    `low` is not. Otherwise this machine cannot tell.
    """

    name: str
    figure: float
    limit: float
    unit: str
    detail: str
    low: float | None = None
    high: float | None = None

    @property
    def word(self) -> str:
        """Return ok, NOT OK, or that this machine cannot tell now."""
        low = self.figure if self.low is None else self.low
        high = self.figure if self.high is None else self.high
        if high <= self.limit:
            return "ok"
        return "NOT OK" if low > self.limit else "can't tell: other work on this machine makes the interval too wide"

    @property
    def is_ok(self) -> bool:
        return self.word == "ok"

    def line(self) -> str:
        """Return one line: name, value, interval, limit, ok or not, detail."""
        interval = "" if self.low is None or self.high is None else f" ({self.low:.2f} … {self.high:.2f})"
        figure = f"{self.figure:.3g}{self.unit}{interval}, limit {self.limit:g}{self.unit}"
        return f"{self.name}: {figure}: {self.word}; {self.detail}"
