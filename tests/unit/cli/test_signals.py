"""The first signal stops a run, even if its KeyboardInterrupt was lost."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator

import pytest

from poolproof.cli.signals import end_by_exception, end_in_order, stop_if_asked

_SIGNALS = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU),
    *(signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGIO, signal.SIGPWR),
)


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (*_SIGNALS, signal.SIGTSTP, signal.SIGTTOU)}
    end_in_order()
    yield
    end_in_order()
    for number, handler in before.items():
        signal.signal(number, handler)


def test_without_a_signal_nothing_stops() -> None:
    stop_if_asked()


@pytest.mark.parametrize("number", _SIGNALS)
def test_a_signal_whose_interrupt_was_lost_still_stops(number: signal.Signals) -> None:
    with contextlib.suppress(KeyboardInterrupt):  # as Python does in the callback of a weak reference
        os.kill(os.getpid(), number)
    with pytest.raises(KeyboardInterrupt):
        stop_if_asked()


def test_a_second_signal_asks_for_patience_and_raises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGINT)
    assert "still cleaning up" in capsys.readouterr().err


@pytest.mark.parametrize("install", [end_in_order, end_by_exception])
def test_a_command_started_with_nohup_survives_the_end_of_its_terminal(install: Callable[[], None]) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    install()
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    os.kill(os.getpid(), signal.SIGHUP)
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def test_a_run_cannot_be_suspended(capsys: pytest.CaptureFixture[str]) -> None:
    """A stopped process would not monitor the free space, while the load generator continues."""
    for number in (signal.SIGTSTP, signal.SIGTTOU):
        os.kill(os.getpid(), number)
    stop_if_asked()
    assert "cannot be suspended" in capsys.readouterr().err
