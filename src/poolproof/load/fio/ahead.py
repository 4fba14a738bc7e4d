"""Ask fio in the background what will be needed soon: each answer takes 30 ms."""

import contextlib
import threading
from collections.abc import Callable
from functools import partial

from poolproof.errors import PoolproofError
from poolproof.hosts.base import Host
from poolproof.load.fio.options import engine_options, job_options
from poolproof.load.fio.version import fio_version


def ask_ahead(host: Host, engine: str) -> None:
    """Ask fio for its version, its options and those of the engine, in threads; later callers find the answers cached.

    Errors are ignored here: they occur again for the next caller, who reports them.
    """
    for question in (fio_version, job_options, partial(engine_options, engine=engine)):
        threading.Thread(target=_ask, args=(question, host), name="ahead", daemon=True).start()


def _ask(question: Callable[[Host], object], host: Host) -> None:
    with contextlib.suppress(PoolproofError):
        question(host)
