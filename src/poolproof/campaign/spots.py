"""Mistakes of a campaign that only a host shows, told with the line that they stand in, as those that reading shows."""

import contextlib
from collections.abc import Iterator

from poolproof.campaign.model import Workload, WorkloadRequest
from poolproof.errors import CampaignError, PoolproofError


@contextlib.contextmanager
def standing_at(origin: str) -> Iterator[None]:
    """Put `origin` ("campaign.yaml:12", "--layout") before the message of a mistake of the campaign raised in here.

    A mistake is a CampaignError, and whatever says which word of the campaign it is `about`.
    """
    try:
        yield
    except PoolproofError as error:
        if _is_mistake(error):
            _place(error, origin)
        raise


@contextlib.contextmanager
def standing_in(workload: Workload) -> Iterator[None]:
    """As `standing_at`, with the line of the option that the mistake is about, else that of the workload."""
    try:
        yield
    except PoolproofError as error:
        if _is_mistake(error):
            _place(error, _spot_of(workload.request, error.about))
        raise


def _is_mistake(error: PoolproofError) -> bool:
    """Whether the error speaks of the campaign, not of the state of the host."""
    return isinstance(error, CampaignError) or bool(error.about)


def _place(error: PoolproofError, origin: str) -> None:
    if origin and not error.message.startswith(f"{origin}: "):
        error.message = f"{origin}: {error.message}"


def _spot_of(request: WorkloadRequest | None, option: str) -> str:
    spots = dict(request.spots) if request else {}
    fitting = [spot for key, spot in spots.items() if option and key.rpartition(".")[2] == option]
    return fitting[0] if fitting else spots.get("", "")
