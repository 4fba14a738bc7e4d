"""The module that starts programs: time limits, how programs are ended, and their output."""

import contextlib
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

import pytest

from poolproof import process
from poolproof.process import CommandTimedOut


def test_a_limit_longer_than_the_kernel_takes_is_no_error() -> None:
    """The time limit of a job without a runtime depends on its bytes. For a large job, it is several months."""
    assert process.run(["echo", "done"], timeout_s=1e8).stdout == "done\n"


def test_a_program_that_closed_its_output_is_waited_for_until_it_ends() -> None:
    completed = process.run(["sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 7"], timeout_s=30, check=False)
    assert completed.returncode == 7
    assert completed.elapsed_s >= 0.1


def test_a_program_that_closed_its_output_is_ended_at_its_limit() -> None:
    with pytest.raises(CommandTimedOut):
        process.run(["sh", "-c", "exec >&- 2>&-; sleep 600"], timeout_s=0.2)


def test_waiting_for_many_programs_at_once_leaves_no_handle_of_one() -> None:
    threads = [threading.Thread(target=process.run, args=(["true"],), kwargs={"timeout_s": 60}) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert _pidfds() == 0


def _pidfds() -> int:
    """Return the number of process file descriptors (pidfds) that this process has open."""
    found = 0
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += "pidfd" in str(entry.readlink())
    return found


def test_a_program_is_ended_if_ctrl_c_arrives_while_it_is_being_started() -> None:
    """Send the signal when the program has been started, but Popen has not returned yet."""

    def interrupt(frame: FrameType, event: str, _argument: object) -> None:
        if event == "return" and frame.f_code.co_name == "_execute_child":
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.setprofile(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            process.run(["sleep", "29.53"], timeout_s=60)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        sys.setprofile(None)
        signal.signal(signal.SIGINT, before)
    running = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if file.exists()]
    assert b"sleep\x0029.53\x00" not in running


def test_a_program_that_does_not_read_its_input_still_ends_in_time() -> None:
    """The input is larger than the buffer of a pipe, so writing all of it would block forever."""
    begun = time.monotonic()
    with process.lines_kept_alive(["sh", "-c", "echo one; exec sleep 60"], stdin="x" * 200_000, grace_s=0.2) as lines:
        assert next(lines) == "one\n"
    assert time.monotonic() - begun < 10


def test_a_message_has_no_long_script() -> None:
    script = "until " + " && ".join(f"read a{number} <file{number}" for number in range(20)) + "; do sleep 1; done"
    with pytest.raises(process.CommandFailed, match=r"^`sh -c … '/dev/md 0'` .* 3: "):
        process.run(["sh", "-c", f"exit 3; {script}", "/dev/md 0"], timeout_s=20)
    with pytest.raises(process.CommandFailed, match=r"^`sh -c 'exit 3'` failed"):
        process.run(["sh", "-c", "exit 3"], timeout_s=20)


def test_a_message_omits_scripts_wherever_they_are_in_the_command() -> None:
    """A script may be an argument of another script, which runs it with Python or Perl."""
    script = "import os, sys\nfor path in sys.argv[1:]:\n    print(os.stat(path).st_ino)\n"
    with pytest.raises(process.CommandFailed) as caught:
        process.run(
            [
                "sh",
                "-c",
                'exit "$1" # a comment that makes this script a long one, as it has over 60 letters',
                "sh",
                "3",
                script,
            ],
            timeout_s=10,
        )
    assert caught.value.message.startswith("`sh -c … sh 3 …` failed with exit code 3")
