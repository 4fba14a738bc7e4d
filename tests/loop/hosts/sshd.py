"""A separate sshd on this machine, with its own keys and configuration. It does not change any of the user's files."""

import contextlib
import fcntl
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_LIMIT_S = 60.0
_SEPARATION = Path("/run/sshd")  # Debian's sshd needs this directory, which its service creates
_LOCK = Path("/run/poolproof-tests-sshd.lock")


class Sshd:
    """A running sshd.

    `config`: the client's configuration file, in which the host is called `far`.
    `within`: a command that runs the sshd with other mounts.
    """

    def __init__(self, folder: Path, user: str = "root", set_up: str = "", within: Sequence[str] = ()) -> None:
        self._folder, self._user, self._within = folder, user, within
        self.port = _free_port()
        self.config = folder / "ssh_config"
        for name in ("host_key", "user_key"):
            _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
        (folder / "authorized_keys").write_text((folder / "user_key.pub").read_text())
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {(folder / 'host_key.pub').read_text()}")
        (folder / "sshd_config").write_text(self._server(set_up))
        self.config.write_text(self._client())
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start to listen, and return when a connection succeeds."""
        program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin") or "sshd"
        argv = [*self._within, program, "-D", "-e", "-f", str(self._folder / "sshd_config")]
        with (self._folder / "sshd.log").open("ab") as log:
            self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + _LIMIT_S
        while not _listens(self.port):
            assert time.monotonic() < deadline, (self._folder / "sshd.log").read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop accepting connections. Existing connections continue."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_LIMIT_S)
            self._process = None

    def break_links(self) -> int:
        """Kill the sshd process of every session, as a network failure would, and return their number."""
        return self._signal_sessions(signal.SIGKILL)

    def silence(self) -> int:
        """Stop the sshd process of every session, and return their number.

        The connections stay open, but no data arrives.
        """
        return self._signal_sessions(signal.SIGSTOP)

    def _signal_sessions(self, number: signal.Signals) -> int:
        sessions = _children(self._process.pid) if self._process is not None else []
        inner = {child for session in sessions for child in _children(session) if _is_sshd(child)}
        for pid in (*sessions, *inner):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        return len(sessions)

    def stop_all(self) -> None:
        """Stop accepting connections and break the existing ones, as if the host had disappeared."""
        self.break_links()
        self.stop()

    def client_folder(self) -> Path:
        """Return a folder to put first on the PATH. Its `ssh` reads the test's configuration and not the user's."""
        folder = self._folder / "bin"
        folder.mkdir(exist_ok=True)
        script = folder / "ssh"
        script.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.config} "$@"\n')
        script.chmod(0o755)
        return folder

    def _server(self, set_up: str) -> str:
        """Return the configuration of the sshd.

        SHLVL keeps bash from reading the .bashrc of the user who runs the tests, because that can be slow.
        """
        return f"""
Port {self.port}
ListenAddress 127.0.0.1
HostKey {self._folder}/host_key
AuthorizedKeysFile {self._folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
PrintMotd no
MaxStartups 100
SetEnv SHLVL=2
{set_up}
"""

    def _client(self) -> str:
        return f"""
Host far
    HostName 127.0.0.1
    Port {self.port}
    User {self._user}
    IdentityFile {self._folder}/user_key
    IdentitiesOnly yes
    UserKnownHostsFile {self._folder}/known_hosts
    GlobalKnownHostsFile none
    StrictHostKeyChecking yes
"""


@contextlib.contextmanager
def sshd(user: str = "root", set_up: str = "", within: Sequence[str] = ()) -> Iterator[Sshd]:
    """Run an sshd while the context is active.

    `set_up`: additional lines for its configuration. `within`: as for `Sshd`.
    """
    with _separation_directory(), tempfile.TemporaryDirectory(prefix="poolproof-sshd-") as name:
        folder = Path(name)
        if user != "root":
            folder.chmod(0o755)  # sshd reads the keys as the user who logs in
        server = Sshd(folder, user, set_up, within)
        server.start()
        try:
            yield server
        finally:
            server.stop_all()


@contextlib.contextmanager
def _separation_directory() -> Iterator[None]:
    """Make sure that /run/sshd exists while the context is active.

    The last test process that needs it removes it, unless the machine's own sshd has created it. Every process that
    uses the directory holds a shared lock, because an sshd without it closes each new connection.
    """
    with _LOCK.open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        with contextlib.suppress(FileExistsError):
            _SEPARATION.mkdir(mode=0o755)
            lock.write("made\n")
            lock.flush()
        try:
            yield
        finally:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                lock.seek(0)
                if lock.read():
                    _SEPARATION.rmdir()
                    lock.truncate(0)


@contextlib.contextmanager
def user_without_root(*, sudo: bool) -> Iterator[str]:
    """Create a user while the context is active, with or without passwordless sudo."""
    name = f"poolproof-{secrets.token_hex(3)}"
    rule = Path("/etc/sudoers.d") / name
    _run("useradd", "--create-home", "--shell", "/bin/sh", "--password", "*", name)
    try:
        if sudo:
            rule.write_text(f"{name} ALL=(ALL) NOPASSWD: ALL\n")
            rule.chmod(0o440)
        yield name
    finally:
        rule.unlink(missing_ok=True)
        home = pwd.getpwnam(name).pw_dir
        _run("userdel", "--remove", "--force", name)
        assert not Path(home).exists()


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, timeout=60, capture_output=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _is_sshd(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() in ("sshd", "sshd-session")
    except OSError:
        return False
