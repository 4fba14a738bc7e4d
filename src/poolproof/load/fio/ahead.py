"""What fio takes a moment to answer is asked while something else is done: 30 ms a question, 90 ms to read jobs."""

import contextlib
import threading
from collections.abc import Callable, Iterator
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


@contextlib.contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Do the work, which has a time limit of its own, in a thread beside the context; both are done when it is left.

    Raises:
        BaseException: what the work raised; it goes before what the context raised.
    """
    raised: list[BaseException] = []
    thread = threading.Thread(target=_keep_error, args=(work, raised), name="meanwhile", daemon=True)
    thread.start()
    try:
        yield
    except BaseException as error:
        thread.join()
        if raised and isinstance(error, PoolproofError):
            raise raised[0] from None
        raise
    thread.join()
    if raised:
        raise raised[0]


def _keep_error(work: Callable[[], None], raised: list[BaseException]) -> None:
    try:
        work()
    except BaseException as error:
        raised.append(error)
