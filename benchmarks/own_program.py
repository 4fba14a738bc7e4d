"""poolproof as another program runs it: when that is stopped, poolproof has the time to take down what it built."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_ENDING_S = 120.0


def poolproof(words: Sequence[str], limit_s: float, *, keep: bool = False) -> tuple[int, str]:
    """Its exit code; and what it printed, if that is to be kept.

    Raises:
        subprocess.TimeoutExpired: it took longer; it was asked to end, and waited for.
    """
    argv = [str(Path(sys.executable).with_name("poolproof")), *words]
    with subprocess.Popen(argv, stdout=subprocess.PIPE if keep else None, text=True) as process:
        try:
            printed, _ = process.communicate(timeout=limit_s)
        except BaseException:
            process.terminate()
            process.wait(timeout=_ENDING_S)
            raise
    return process.returncode, printed or ""
