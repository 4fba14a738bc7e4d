"""What a cell's result may be used for, and the reason for each restriction."""

from dataclasses import dataclass

from poolproof.results.runs.few_events import TOO_FEW, FewEvents
from poolproof.rules.model import Finding
from poolproof.verdicts import Verdict, counts


@dataclass(frozen=True)
class Usability:
    """What the result of a cell for one metric may be used for.

    If the result does not count, `causes` lists the findings that caused the verdict, strongest first. `few` says how
    many events a percentile lacks. `converged` is false if the result is less precise than `until` requires. `unsteady`
    lists the reasons why the rate changed within a trial. `limited` says why a valid result can't be compared:
    something other than the layout limits it.
    """

    verdict: Verdict
    causes: tuple[Finding, ...] = ()
    few: FewEvents | None = None
    converged: bool = True
    unsteady: tuple[str, ...] = ()
    limited: str = ""

    @property
    def counts(self) -> bool:
        """True if the result is valid: neither refuted nor failed."""
        return counts(self.verdict)

    @property
    def can_be_ranked(self) -> bool:
        """True if the result is valid and has enough events to be ranked, compared or used in a claim."""
        return self.counts and self.few is None

    @property
    def can_be_tested(self) -> bool:
        """True if the result can be ranked, the layout limits it, and its rate does not change."""
        return self.can_be_ranked and not self.limited and not self.unsteady

    @property
    def is_precise(self) -> bool:
        """True if the result has enough events and is as precise as the campaign's `until` requires."""
        return self.converged and self.few is None

    @property
    def rejected(self) -> str:
        """Return the verdict and its rule, such as `refuted (arc-hits)`, or an empty string if the result is valid."""
        if self.counts:
            return ""
        return f"{self.verdict} ({self.causes[0].rule})" if self.causes else self.verdict

    @property
    def too_few(self) -> str:
        """Return a sentence that says how many events the percentile has and needs. Empty if it has enough."""
        return "" if self.few is None else f"{TOO_FEW}: {self.few.sentence}"
