"""Draw anew as soon as the terminal has another size: until then it shows a screen of the old one, cut or empty."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

_LOOK_S = 60.0
_JOIN_S = 2.0


@contextlib.contextmanager
def on_resize(draw: Callable[[], None]) -> Iterator[None]:
    """As long as this lasts, `draw` is called after each change of size, from a thread of its own.

    A signal's handler must not draw: it may interrupt a drawing. Outside of the main thread nothing is watched.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    changed, ended = threading.Event(), threading.Event()

    def redraw() -> None:
        while not ended.is_set():
            if changed.wait(_LOOK_S) and not ended.is_set():
                changed.clear()
                with contextlib.suppress(OSError):  # the terminal may be gone by now
                    draw()

    thread = threading.Thread(target=redraw, name="resized", daemon=True)
    before = signal.signal(signal.SIGWINCH, lambda *_: changed.set())
    thread.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before or signal.SIG_DFL)
        ended.set()
        changed.set()
        thread.join(_JOIN_S)
