"""Only the owner can enter the directories that a run creates, whatever their parent lets new directories inherit."""

import errno
import os
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.layers.shared_steps import make_key
from poolproof.layers.tree import from_bottom
from poolproof.provision.directories import directory_steps, owner_of
from poolproof.steps import Step

from .ground import SITE, plan

_NONE = 0xFFFFFFFF


def _inherit_write(path: Path) -> None:
    entries = ((1, 7, _NONE), (2, 7, 12345), (4, 7, _NONE), (16, 7, _NONE), (32, 7, _NONE))
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in entries)
    try:
        os.setxattr(path, "system.posix_acl_default", packed)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        # without such lists, the umask of 0 has the same effect


def _mode(step: Step, path: str) -> int:
    subprocess.run(["sh", "-c", 'umask 0; exec "$@"', "sh", *step.argv], check=True)
    return Path(path).stat().st_mode & 0o777


def test_the_directory_of_a_dir_layout(tmp_path: Path) -> None:
    _inherit_write(tmp_path)
    built = plan(f"dir {tmp_path}")
    (step,) = (step for entry in from_bottom(built.top) if entry.plan is not None for step in entry.plan.make)
    assert _mode(step, built.volume.path) == 0o700


def test_the_directories_of_a_run(tmp_path: Path) -> None:
    _inherit_write(tmp_path)
    site = replace(SITE, state_dir=f"{tmp_path}/state", ram_dir=f"{tmp_path}/ram")
    first, _owner, second = directory_steps(site, owner_of(tmp_path / "run"), with_ram=True)
    assert (_mode(first, site.state_dir), _mode(second, site.ram_dir)) == (0o700, 0o700)


def test_the_key_of_an_encrypted_layer_is_a_new_file(tmp_path: Path) -> None:
    key = tmp_path / "poolproof-a1b2c3d4.one-luks.key"
    assert _mode(make_key(str(key)), str(key)) == 0o600
    assert len(key.read_bytes()) == 32


@pytest.mark.parametrize("kind", ["link", "dangling link", "file", "FIFO"])
def test_a_key_is_not_written_to_what_another_user_has_put_there(tmp_path: Path, kind: str) -> None:
    """Every user can create files in /dev/shm and find out the label of a run."""
    key, precious = tmp_path / "poolproof-a1b2c3d4.one-luks.key", tmp_path / "precious"
    precious.write_text("data")
    match kind:
        case "link":
            key.symlink_to(precious)
        case "dangling link":
            key.symlink_to(tmp_path / "new")
        case "file":
            key.write_text("data")
        case "FIFO":
            os.mkfifo(key)
    found = subprocess.run(make_key(str(key)).argv, timeout=20, check=False, capture_output=True, text=True)
    assert found.returncode != 0 and "File exists" in found.stderr
    assert precious.read_text() == "data"
    assert not (tmp_path / "new").exists()
