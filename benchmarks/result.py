"""One measured claim, and how it is printed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A figure beside its limit; `unit` follows both, `detail` says what it was made of.

    `low` and `high` are its 95 % interval, where it has one. The claim stands when `high` keeps the limit, and falls
    when `low` breaks it; between the two this machine can't tell.
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
        """ok, NOT OK, or that this machine can't tell just now."""
        low = self.figure if self.low is None else self.low
        high = self.figure if self.high is None else self.high
        if high <= self.limit:
            return "ok"
        return "NOT OK" if low > self.limit else "can't tell: other work on this machine makes the interval too wide"

    @property
    def is_ok(self) -> bool:
        return self.word == "ok"

    def line(self) -> str:
        """One line: name, figure, interval, limit, ok or not, detail."""
        interval = "" if self.low is None or self.high is None else f" ({self.low:.2f} … {self.high:.2f})"
        figure = f"{self.figure:.3g}{self.unit}{interval}, limit {self.limit:g}{self.unit}"
        return f"{self.name}: {figure}: {self.word}; {self.detail}"
