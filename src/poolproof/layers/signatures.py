"""Old signatures on devices, wiped before anything new is made: else one technology sees the remains of another."""

from collections.abc import Sequence

from poolproof.steps import Step


def wipe(devices: Sequence[str]) -> Step:
    """Wipe every signature that wipefs knows."""
    return Step(
        f"wipe old signatures from {', '.join(devices)}",
        ("wipefs", "-a", "-q", *devices),
        overwrites=tuple(devices),
    )
