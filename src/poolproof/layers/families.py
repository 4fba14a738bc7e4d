"""Groups of layouts that are built in place, by converting the pool of one layout into that of the next."""

from collections.abc import Mapping, Sequence

from poolproof.layers.adapt import can_become, core_of
from poolproof.layers.base import Node
from poolproof.layers.tree import devices


def families(nodes: Mapping[str, Node], names: Sequence[str]) -> list[list[str]]:
    """Divide the layouts into families: consecutive layouts, each of which can be converted in place into the next.

    Within a family, layouts differ only in the log and cache devices of a pool or in the leaf devices of its mirrors. A
    device that was detached is not attached again in the same family.
    """
    found: list[list[str]] = []
    for name in names:
        if found and _can_follow(nodes, found[-1], name):
            found[-1].append(name)
        else:
            found.append([name])
    return found


def _can_follow(nodes: Mapping[str, Node], family: Sequence[str], name: str) -> bool:
    before, after = core_of(nodes[family[-1]]), core_of(nodes[name])
    given_up = {device for member in family for device in devices(core_of(nodes[member]))} - set(devices(before))
    if not given_up.isdisjoint(devices(nodes[name])):
        return False
    if before != after:
        return can_become(before, after)
    # if a layout is listed twice, with nothing to add, the user wants it to be built twice
    return any(nodes[member] != after for member in (name, *family) if core_of(nodes[member]) == after)
