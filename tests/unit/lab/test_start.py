"""Starting a lab on a machine with too little space causes an error, and nothing is left behind."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from poolproof.errors import HostError
from poolproof.lab.labs import Image
from poolproof.lab.start import LabRequest, start
from tests.golden import Message

_MIB = 1 << 20
_Usage = namedtuple("_Usage", "total used free")


@pytest.fixture
def request_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabRequest:
    """A lab on a machine with the necessary programs, none of which must be started."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("qemu-system-x86_64", "ssh", "ssh-keygen"):
        (programs / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return LabRequest("nas", "2.1", Image(tmp_path / "image"), (), 1 * _MIB, 1)


def test_a_full_disk_is_reported_before_anything_is_started(
    tmp_path: Path,
    request_: LabRequest,
    monkeypatch: pytest.MonkeyPatch,
    message: Message,
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: _Usage(1000 * _MIB, 900 * _MIB, 100 * _MIB))
    with pytest.raises(HostError, match=r"machines/nas .* 100 MiB ") as caught:
        start(request_, lambda _line: None)
    message(caught.value)
    assert "XDG_CACHE_HOME" in caught.value.hint
    assert not (tmp_path / "poolproof" / "lab" / "machines" / "nas").exists()
    assert not (tmp_path / "started").exists()
