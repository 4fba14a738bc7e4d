"""Options that several commands about labs share."""

from typing import Annotated

import typer

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
