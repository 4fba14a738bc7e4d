"""What a cell's result can be used for, and the reason for each restriction."""

from dataclasses import dataclass

from poolproof.results.runs.few_events import TOO_FEW, FewEvents
from poolproof.rules.model import Finding
from poolproof.verdicts import Verdict, counts


@dataclass(frozen=True)
class Usability:
    """What a cell's result for one metric can be used for.

    `causes`: the findings that make the result invalid, most serious first. Empty for a valid result.
    `few`: the number of events that a percentile has and needs, or None if it has enough.
    `converged`: whether the result is as precise as `until` requires.
    `unsteady`: the reasons why the rate changed within a trial.
    `is_disturbed`: whether other work disturbed most of the trials.
    `limited`: the reason why a valid result can't be compared: something other than the layout limits it. Otherwise an
    empty string.
    """

    verdict: Verdict
    causes: tuple[Finding, ...] = ()
    few: FewEvents | None = None
    converged: bool = True
    unsteady: tuple[str, ...] = ()
    limited: str = ""
    is_disturbed: bool = False

    @property
    def counts(self) -> bool:
        """True if the result is valid: neither refuted nor failed."""
        return counts(self.verdict)

    @property
    def can_be_ranked(self) -> bool:
        """True if the result is valid and based on enough events to be ranked, compared or used in a claim."""
        return self.counts and self.few is None

    @property
    def can_be_tested(self) -> bool:
        """True if the result can be ranked, its rate is steady, and nothing other than the layout limits it.

        At least half of its trials must also be undisturbed.
        """
        return self.can_be_ranked and not (self.limited or self.unsteady or self.is_disturbed)

    @property
    def is_precise(self) -> bool:
        """True if the result is based on enough events, and is as precise as the campaign's `until` requires."""
        return self.converged and self.few is None

    @property
    def rejected(self) -> str:
        """Return the verdict and its rule, e.g. `refuted (read-from-cache)`, or "" if the result is valid."""
        if self.counts:
            return ""
        return f"{self.verdict} ({self.causes[0].rule})" if self.causes else self.verdict

    @property
    def too_few(self) -> str:
        """Return a sentence with the number of events that the percentile has and needs. Empty if it has enough."""
        return "" if self.few is None else f"{TOO_FEW}: {self.few.sentence}"
