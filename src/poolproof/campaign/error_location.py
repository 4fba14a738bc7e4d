"""Add a location in the campaign to errors that are detected only on the host. Parse errors already have one."""

import contextlib
from collections.abc import Iterator

from poolproof.campaign.model import Workload, WorkloadRequest
from poolproof.errors import CampaignError, PoolproofError


@contextlib.contextmanager
def located_at(origin: str) -> Iterator[None]:
    """Prefix errors about the campaign with `origin`, e.g. "campaign.yaml:12" or "--layout".

    Errors about the campaign are CampaignErrors, and errors whose `about` names a word in the campaign. All other
    errors are about the host, and are left unchanged.
    """
    try:
        yield
    except PoolproofError as error:
        _prefix(error, origin)
        raise


@contextlib.contextmanager
def located_in(workload: Workload) -> Iterator[None]:
    """Prefix errors about the campaign with the location of the option that causes them.

    If that location is unknown, the workload's location is used.
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
