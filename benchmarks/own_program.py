"""Run poolproof from another program. If that program is stopped, poolproof gets time to clean up."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_ENDING_S = 120.0


def poolproof(words: Sequence[str], limit_s: float, *, keep: bool = False) -> tuple[int, str]:
    """Return the exit code, and the output if it is captured.

    Raises: subprocess.TimeoutExpired: it took longer; it was terminated, and its cleanup has finished.
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
