"""Options about labs that several commands share."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from poolproof.results.runs.model import RunLab

Name = Annotated[str, typer.Argument(help="The lab's name, with or without `lab:` before it.")]
Series = Annotated[str, typer.Option("--zfs", metavar="SERIES", help="OpenZFS in the lab: 2.1 or 2.3.")]
Ram = Annotated[str, typer.Option("--ram", metavar="SIZE", help="The lab's RAM.")]
Processors = Annotated[int, typer.Option("--cpus", help="The lab's processors.")]
Acceleration = Annotated[
    str,
    typer.Option("--accel", metavar="WAY", help="kvm, tcg (emulation), or auto: KVM where it works, tried once."),
]

SERIES = "2.1"
RAM = "2G"
PROCESSORS = 2
AUTO = "auto"
"""What these options are where they are not given."""


def lab_of_run(zfs: str, ram: str, cpus: int, accel: str) -> "RunLab":
    """The lab that these options ask for.

    Raises:
        UsageError: no such series or acceleration, or too little RAM.
    """
    from poolproof.lab.accelerate import check_wish
    from poolproof.lab.recipe import check_series
    from poolproof.lab.start import check_processors, parse_ram
    from poolproof.results.runs.model import RunLab

    return RunLab(check_series(zfs), parse_ram(ram), check_processors(cpus), check_wish(accel))
