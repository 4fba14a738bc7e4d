"""Do something slow in another thread while a plan is made."""

import contextlib
import threading
from collections.abc import Callable, Iterator

from poolproof.errors import PoolproofError


@contextlib.contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Do the work in another thread while the context is open; leaving it waits for the work, which must end by itself.

    Raises:
        BaseException: what the work raised; it takes precedence over what the context raised.
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
