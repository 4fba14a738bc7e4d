"""`poolproof lab`: a disposable virtual machine in which every storage system is real. One file per subcommand."""

import typer

from poolproof.cli.lab import build, listing, rm, run, ssh, start, stop

app = typer.Typer(
    name="lab",
    help="Build, start, use and stop labs: disposable virtual machines with disks like a campaign's.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("build")(build.command)
app.command("start")(start.command)
app.command("run", context_settings={"ignore_unknown_options": True})(run.command)
app.command("ssh")(ssh.command)
app.command("stop")(stop.command)
app.command("list")(listing.command)
app.command("rm")(rm.command)
