"""What fio takes a moment to answer is asked while something else is done: 30 ms a question, 90 ms to read jobs."""

import contextlib
import threading
from collections.abc import Callable
from functools import partial

from poolproof.errors import PoolproofError
from poolproof.hosts.base import Host
from poolproof.load.fio.options import engine_options, job_options
from poolproof.load.fio.version import fio_version


def ask_ahead(host: Host, engine: str) -> None:
    """Have fio asked for its version, its options and those of the engine; who asks next finds the answers there.

    What goes wrong now goes wrong again for who asks next, and is told by that one.
    """
    for question in (fio_version, job_options, partial(engine_options, engine=engine)):
        threading.Thread(target=_ask, args=(question, host), name="ahead", daemon=True).start()


def _ask(question: Callable[[Host], object], host: Host) -> None:
    with contextlib.suppress(PoolproofError):
        question(host)
