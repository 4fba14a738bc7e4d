"""Add the campaign's line to errors that are found only on the host. Parse errors already contain the line."""

import contextlib
from collections.abc import Iterator

from poolproof.campaign.model import Workload, WorkloadRequest
from poolproof.errors import CampaignError, PoolproofError


@contextlib.contextmanager
def located_at(origin: str) -> Iterator[None]:
    """Prefix the message of an error about the campaign with `origin` ("campaign.yaml:12", "--layout").

    An error is about the campaign if it is a CampaignError, or if its `about` names a word in the campaign. Other
    errors are about the host and are left alone.
    """
    try:
        yield
    except PoolproofError as error:
        _prefix(error, origin)
        raise


@contextlib.contextmanager
def located_in(workload: Workload) -> Iterator[None]:
    """Like `located_at`, but use the line of the option that the error is about.

    Without such a line, use the workload's line.
    """
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
