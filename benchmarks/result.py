"""One measured claim, and how it is printed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """A figure beside its limit; `unit` follows both, `detail` says what it was made of."""

    name: str
    figure: float
    limit: float
    unit: str
    detail: str

    @property
    def is_ok(self) -> bool:
        return self.figure <= self.limit

    def line(self) -> str:
        """One line: name, figure, limit, ok or not, detail."""
        verdict = "ok" if self.is_ok else "NOT OK"
        return f"{self.name}: {self.figure:.3g}{self.unit} (limit {self.limit:g}{self.unit}) {verdict}; {self.detail}"
