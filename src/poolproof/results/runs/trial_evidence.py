"""evidence.json: what a trial was judged by, besides its job and fio's report, so that it can be judged again."""

from dataclasses import dataclass

from poolproof.evidence.model import Evidence, Target
from poolproof.rules.model import Case


@dataclass(frozen=True)
class TrialEvidence(Evidence):
    """The evidence, what the test files stood on, and what was asked: see `Case`.

    None where a run did not write it down: those before 0.1.0 kept the evidence alone.
    """

    target: Target | None = None
    cold: bool | None = None
    asked_s: float | None = None


def trial_evidence(case: Case) -> TrialEvidence:
    """What to keep of a case."""
    evidence = case.evidence or Evidence(None)
    return TrialEvidence(**vars(evidence), target=case.target, cold=case.cold, asked_s=case.asked_s)
