"""Check before a run that the RAM that a load needs is free, so that other programs keep theirs."""

from poolproof.errors import CampaignError
from poolproof.facts.machine import Machine
from poolproof.load.model import Load, LoadPart
from poolproof.units import format_size

_MOST = 0.75
"""The share of the free RAM that a load may use."""


def check_memory(workload: str, load: Load, machine: Machine) -> None:
    """Raise a CampaignError if the buffers of the load could take most of the RAM that is free on the host.

    The kernel would then end programs to get memory, and these programs need not be the load generator. Nothing is
    checked if the host does not report how much RAM is free.
    """
    needed, most = _needed_bytes(load), int(machine.ram_free_bytes * _MOST)
    if machine.ram_free_bytes and needed > most:
        raise CampaignError(
            f"workload {workload} needs {format_size(needed)} of RAM for its buffers, but only three quarters of the "
            f"free RAM ({format_size(machine.ram_free_bytes)}) can be used",
            "give the workload a smaller `iodepth`, `bs`, `numjobs` or `lockmem`",
        ).concerning("iodepth")


def _needed_bytes(load: Load) -> int:
    """Return the size of the buffers of all parts that run at the same time."""
    return max((sum(map(_part_bytes, phase)) for phase in load.phases), default=0)


def _part_bytes(part: LoadPart) -> int:
    """Return the size of a part's buffers.

    Before it starts, fio fills every buffer of a job that writes, even with an engine that uses only one of them. Each
    buffer is as large as the largest block of any direction, including those that the job does not use (init_io_u() in
    fio's backend.c). Buffers for reads take RAM only when they are used.
    """
    if part.writes:
        buffers_bytes = part.depth * max(part.buffer_bytes, part.max_block_bytes)
    else:
        buffers_bytes = (1 if part.is_synchronous else part.depth) * part.max_block_bytes
    return part.clones * (buffers_bytes + part.locked_bytes)
