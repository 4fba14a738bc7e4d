"""`poolproof resume`: continue an interrupted run."""

from poolproof.cli.options import Json, Plain, Run, SameHost


def command(run: Run, on: SameHost = None, plain: Plain = False, as_json: Json = False) -> None:
    """Continue a run that was interrupted or killed. Finished trials are kept; the rest is measured."""
    from poolproof.cli.session import resume

    resume(run, as_json=as_json, plain=plain, on=on)
