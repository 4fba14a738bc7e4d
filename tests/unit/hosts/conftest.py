"""Use each of this machine's shells as the shell of the remote host."""

import shlex
import shutil
from pathlib import Path

import pytest

_SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"], ["ksh"], ["zsh"]) if shutil.which(words[0])]


@pytest.fixture(params=_SHELLS, ids=" ".join)
def shell(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this shell the `sh` of the remote host, for the login and for everything that the host starts."""
    program, *arguments = request.param
    script = tmp_path / "sh"
    script.write_text(f'#!/bin/sh\nexec {shlex.join([shutil.which(program) or program, *arguments])} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
