"""An emulated disk whose file cannot be created results in one clear error."""

import subprocess
from pathlib import Path

from poolproof.devices.emulate import PLUGIN


def test_a_file_that_cannot_be_created_is_no_traceback(tmp_path: Path) -> None:
    store = tmp_path / "missing" / "disk"
    settings = ("model=nvme", f"size={64 << 20}", f"store={store}")
    command = ["nbdkit", "-f", "-U", str(tmp_path / "socket"), "python", str(PLUGIN), *settings]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "the file for the disk cannot be created: No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr
