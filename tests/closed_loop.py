"""Calculate in simulated time, without a device, what a disk model delivers if its queue is always kept full."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from poolproof.devices.emulated.model import DiskModel

Kind = Literal["read", "write", "flush"]


@dataclass(frozen=True)
class Request:
    """A request to a disk model. A flush has neither an offset nor a length."""

    kind: Kind
    offset: int = 0
    length: int = 0


def seconds_for(model: DiskModel, requests: Iterable[Request], depth: int) -> float:
    """Return the number of seconds until all requests are completed, with at most `depth` requests in flight."""
    under_way: list[float] = []
    now = last = 0.0
    for request in requests:
        if len(under_way) == depth:
            now = max(now, heapq.heappop(under_way))
        done = _ask(model, request, now)
        heapq.heappush(under_way, done)
        last = max(last, done)
    return last


def _ask(model: DiskModel, request: Request, now_s: float) -> float:
    if request.kind == "read":
        return model.read(now_s, request.offset, request.length)
    if request.kind == "write":
        return model.write(now_s, request.offset, request.length)
    return model.flush(now_s)
