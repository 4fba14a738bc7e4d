"""Run poolproof from another program. If that program is stopped, poolproof has time to clean up."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_ENDING_S = 120.0


def poolproof(words: Sequence[str], limit_s: float, *, keep: bool = False) -> tuple[int, str]:
    """Run poolproof, and return its exit code and, with `keep`, its output.

    Raises:
        subprocess.TimeoutExpired: poolproof took too long. It was terminated, and has finished its cleanup.
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
