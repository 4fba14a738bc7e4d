"""Ctrl-C at any moment of a command ends it with exit code 130 and without a traceback."""

import os
import signal
import subprocess
import sys
import time

import pytest

from poolproof.process import share_out

_LIMIT_S = 60
_WAIT_S = 60
# Sends the signal while `poolproof rules` imports a module: directly, or in a callback of a weak reference, in which
# Python discards the KeyboardInterrupt.
_PROGRAM = """
import builtins, signal, sys, weakref
from poolproof.cli.entry import main

class Thing:
    pass

def interrupt(*_):
    signal.raise_signal(signal.SIGINT)

def importing(name, *arguments):
    if name == {module!r}:
        builtins.__import__ = real
        if {lost}:
            thing = Thing()
            reference = weakref.ref(thing, interrupt)
            del thing
            import time
            time.sleep({wait_s})
        else:
            interrupt()
    return real(name, *arguments)

real, builtins.__import__ = builtins.__import__, importing
sys.argv = ["poolproof", "rules"]
main()
"""


@pytest.mark.parametrize(
    ("module", "lost"),
    [("typer", False), ("poolproof.rules.rule_catalogue", False), ("poolproof.rules.rule_catalogue", True)],
)
def test_ctrl_c_during_an_import_ends_the_command_quietly(module: str, lost: bool) -> None:
    program = _PROGRAM.format(module=module, lost=lost, wait_s=_WAIT_S)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=_WAIT_S / 2, check=False
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "poolproof: interrupted" in done.stderr


def test_ctrl_c_is_ignored_after_the_command_has_ended() -> None:
    program = (
        "import atexit, os, signal, sys; from poolproof.cli.entry import main; "
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT)); sys.argv = ['poolproof', '--version']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=_LIMIT_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


_FULL_PIPE = """
import os, sys
from poolproof.cli.output import say
from poolproof.cli.signals import end_in_order

end_in_order()
print("ready", flush=True)
try:
    for _ in range(1000):
        say("x" * 1000)
except KeyboardInterrupt:
    os._exit(130)
"""


def test_a_signal_while_a_line_is_being_printed_still_stops_the_run() -> None:
    """The signal arrives while `print` waits until somebody reads from a full pipe."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _FULL_PIPE], stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        _, err = process.communicate(timeout=_LIMIT_S)
    assert process.returncode == 130, err[-1000:]


def test_the_processes_that_share_work_leave_ctrl_c_to_their_parent() -> None:
    assert share_out(_interrupt_itself, [1, 2, 3], chunk=1) == [1, 2, 3]


def _interrupt_itself(item: int) -> int:
    os.kill(os.getpid(), signal.SIGINT)
    return item
