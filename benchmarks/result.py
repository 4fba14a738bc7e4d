"""A measured claim, and how to print it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A measured value and its limit.

    `unit`: the unit of both.
    `detail`: how the value was obtained.
    `low`, `high`: the bounds of its 95% confidence interval, if it has one. The claim holds if `high` is within the
    limit, and fails if `low` is not. Otherwise, this machine can't tell.
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
        """Return `ok`, `NOT OK`, or a message that this machine can't currently tell."""
        low = self.figure if self.low is None else self.low
        high = self.figure if self.high is None else self.high
        if high <= self.limit:
            return "ok"
        return "NOT OK" if low > self.limit else "can't tell: other work on this machine makes the interval too wide"

    @property
    def is_ok(self) -> bool:
        return self.word == "ok"

    def line(self) -> str:
        """Return a line with the name, value, interval, limit, outcome and detail."""
        interval = "" if self.low is None or self.high is None else f" ({self.low:.2f} … {self.high:.2f})"
        figure = f"{self.figure:.3g}{self.unit}{interval}, limit {self.limit:g}{self.unit}"
        return f"{self.name}: {figure}: {self.word}; {self.detail}"
