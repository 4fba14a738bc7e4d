"""The screen is drawn anew when the terminal's size has changed, and signals are as before afterwards."""

import os
import signal
import threading

from poolproof.presentation.terminal.resized import on_resize

LIMIT_S = 30.0


def test_each_change_of_size_draws_anew() -> None:
    drawn = threading.Event()
    before = signal.getsignal(signal.SIGWINCH)
    with on_resize(drawn.set):
        for _ in range(3):
            drawn.clear()
            os.kill(os.getpid(), signal.SIGWINCH)
            assert drawn.wait(LIMIT_S)
    assert signal.getsignal(signal.SIGWINCH) == before


def test_a_drawing_that_fails_is_tried_again() -> None:
    tried = threading.Semaphore(0)

    def draw() -> None:
        tried.release()
        raise OSError("the terminal is gone")

    with on_resize(draw):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGWINCH)
            assert tried.acquire(timeout=LIMIT_S)


def test_another_thread_may_have_a_screen_without_it() -> None:
    done = threading.Event()

    def body() -> None:
        with on_resize(lambda: None):
            done.set()

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(LIMIT_S)
    assert done.is_set()
