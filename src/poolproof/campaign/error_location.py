"""Add the line of the campaign to mistakes that only the host reveals, as for mistakes found while parsing."""

import contextlib
from collections.abc import Iterator

from poolproof.campaign.model import Workload, WorkloadRequest
from poolproof.errors import CampaignError, PoolproofError


@contextlib.contextmanager
def located_at(origin: str) -> Iterator[None]:
    """Prefix `origin` ("campaign.yaml:12", "--layout") to the message of a mistake in the campaign.

    Such a mistake is a CampaignError, or any error that names the word of the campaign that it is `about`. Other errors
    are about the host, and stay unchanged.
    """
    try:
        yield
    except PoolproofError as error:
        _prefix(error, origin)
        raise


@contextlib.contextmanager
def located_in(workload: Workload) -> Iterator[None]:
    """Like `located_at`, with the line of the option that the mistake is about, or else that of the workload."""
    try:
        yield
    except PoolproofError as error:
        _prefix(error, _line_of(workload.request, error.about))
        raise


def _prefix(error: PoolproofError, origin: str) -> None:
    is_mistake = isinstance(error, CampaignError) or bool(error.about)
    if is_mistake and origin and not error.message.startswith(f"{origin}: "):
        error.message = f"{origin}: {error.message}"


def _line_of(request: WorkloadRequest | None, option: str) -> str:
    spots = dict(request.spots) if request else {}
    fitting = [spot for key, spot in spots.items() if option and key.rpartition(".")[2] == option]
    return fitting[0] if fitting else spots.get("", "")
