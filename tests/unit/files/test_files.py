"""Reading and writing files that another user may have prepared.

No symbolic link is followed, nothing blocks, and limits of size and permissions are respected.
"""

import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from poolproof.files import writing
from poolproof.files.folder import FileRefused, Folder
from poolproof.files.reading import LARGEST_BYTES, is_regular, open_named, read_end, read_regular, whole_lines
from poolproof.files.writing import append_line, make_folder, open_lock, remove_file, write_fifo, write_output
from tests.golden import Message
from tests.unit.access_lists import as_root

from ..command import Command

STRANGER = 12345


def _append(path: Path) -> None:
    append_line(path, b"x")


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    path.write_text("precious\n")
    path.chmod(0o600)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


def test_a_link_is_neither_read_nor_written_nor_locked(root: Path, precious: Path) -> None:
    link = root / "link"
    link.symlink_to(precious)
    for use in (
        read_regular,
        whole_lines,
        open_lock,
        lambda path: append_line(path, b"x"),
        lambda path: read_end(path, 0),
    ):
        with pytest.raises(FileRefused, match=r"symbolic link.* regular file"):
            use(link)
    assert not is_regular(link)
    write_output(link, b"new")
    assert (link.is_symlink(), link.read_bytes()) == (False, b"new")
    link.unlink()
    link.symlink_to(precious)
    remove_file(link)
    assert precious.read_text() == "precious\n"


def test_a_hard_link_is_read_and_replaced_but_not_appended_to_or_locked(root: Path, precious: Path) -> None:
    link = root / "link"
    link.hardlink_to(precious)
    for use in (open_lock, lambda path: append_line(path, b"x")):
        with pytest.raises(FileRefused, match="several names"):
            use(link)
    assert read_regular(link) == b"precious\n"
    write_output(link, b"new")
    assert (link.read_bytes(), precious.read_text()) == (b"new", "precious\n")
    append_line(link, b"x")


def test_a_link_to_a_directory_is_not_entered_below_the_root(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_text("secret")
    (root / "cells").symlink_to(elsewhere)
    inside = root / "cells" / "file"
    with pytest.raises(FileRefused, match=r"symbolic link.* directory"):
        read_regular(inside, root=root)
    with pytest.raises(FileRefused):
        write_output(root / "cells" / "new", b"x", root=root)
    with pytest.raises(FileRefused):
        make_folder(root / "cells" / "a" / "b", root=root)
    assert not is_regular(inside, root=root)
    assert sorted(each.name for each in elsewhere.iterdir()) == ["file"]
    assert read_regular(inside) == b"secret", "without a root, the path is the user's own"


def test_a_fifo_a_socket_and_a_device_are_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(root)  # the path of a socket must be short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        for name, kind in (("fifo", "a FIFO"), ("socket", "a socket"), ("/dev/null", "a character device")):
            path = root / name
            for use in (
                read_regular,
                open_lock,
                lambda path: append_line(path, b"x"),
                lambda path: write_output(path, b"x"),
            ):
                with pytest.raises(FileRefused, match=kind):
                    use(path)


@pytest.mark.timeout(20)
def test_a_named_file_is_read_through_links_but_is_no_fifo_or_device(root: Path, message: Message) -> None:
    (root / "file").write_bytes(b"text")
    (root / "link").symlink_to("file")
    os.mkfifo(root / "fifo")
    (root / "zero").symlink_to("/dev/zero")
    with open_named(root / "link") as file:
        assert file.read() == b"text"
    for name, kind in (("fifo", "a FIFO"), ("zero", "a character device"), (".", "a directory")):
        with pytest.raises(FileRefused, match=kind) as refused:
            open_named(root / name)
        message(refused.value)
    with pytest.raises(FileNotFoundError):
        open_named(root / "gone")
    reader, writer = os.pipe()
    os.write(writer, b"piped")
    os.close(writer)
    with open_named(Path(f"/dev/fd/{reader}")) as file:  # as in: poolproof audit <(fio job.fio)
        assert file.read() == b"piped"
    os.close(reader)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("words", [("audit",), ("lint",), ("check",), ("run", "--dry-run"), ("audit", "--save", "new")])
@pytest.mark.parametrize("name", ["x.fio", "x_bw.1.log"])
def test_no_command_opens_a_fifo_or_a_device_that_it_is_given(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], name: str
) -> None:
    monkeypatch.chdir(root)
    poolproof = Command(monkeypatch, capsys)
    for kind, make in (("FIFO", os.mkfifo), ("character device", lambda path: Path(path).symlink_to("/dev/zero"))):
        make(name)
        code, _, err = poolproof(words[0], name, *words[1:])
        assert code not in (0, 70), err
        assert kind in err
        Path(name).unlink()
    assert not (root / "new").exists()


def test_a_large_file_is_refused_by_its_size_and_not_read(root: Path) -> None:
    path = root / "large"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FileRefused, match="larger than 256 MiB"):
        read_regular(path)
    with pytest.raises(FileRefused, match="larger than 16 MiB"):
        read_regular(path, limit_bytes=16 << 20)
    assert read_end(path, -1) == b"\0"
    with pytest.raises(FileRefused):
        read_end(path, (1 << 40) - LARGEST_BYTES - 1)


def test_a_link_to_something_else_than_a_file_is_not_replaced(root: Path, message: Message) -> None:
    """Otherwise, `report --out /dev/stdout` as root would replace this symbolic link for the whole machine."""
    for target, what in (("/dev/null", "a character device"), (str(root), "a directory")):
        link = root / "out"
        link.symlink_to(target)
        with pytest.raises(FileRefused, match=what) as refused:
            write_output(link, b"x")
        message(refused.value)
        link.unlink()
    with pytest.raises(FileRefused, match="open file"):
        write_output(Path(f"/proc/self/fd/{os.open(root / 'file', os.O_CREAT | os.O_WRONLY)}"), b"x")
    (root / "out").symlink_to(root / "nowhere")
    write_output(root / "out", b"x")
    assert not (root / "nowhere").exists()


def test_a_lock_file_keeps_its_content(root: Path) -> None:
    (root / ".lock").write_text("content")
    open_lock(root / ".lock").close()
    assert (root / ".lock").read_text() == "content"


def test_permissions_are_kept_and_never_widened(root: Path, precious: Path) -> None:
    write_output(precious, b"new")
    assert (precious.read_bytes(), precious.stat().st_mode & 0o777) == (b"new", 0o600)
    write_output(root / "report", b"x", no_wider_than=precious)
    assert (root / "report").stat().st_mode & 0o777 == 0o600
    write_output(root / "plain", b"x")
    mask = os.umask(0)
    os.umask(mask)
    assert (root / "plain").stat().st_mode & 0o777 == 0o666 & ~mask


@as_root
def test_the_permissions_of_another_users_file_are_not_kept(root: Path, precious: Path) -> None:
    """In /tmp, for example, another user can create a file with the name of an output, and let everyone read it."""
    prepared = root / "report"
    prepared.write_text("")
    prepared.chmod(0o666)
    os.chown(prepared, STRANGER, STRANGER)
    write_output(prepared, b"private", no_wider_than=precious)
    found = prepared.stat()
    assert (prepared.read_bytes(), found.st_uid, stat.S_IMODE(found.st_mode)) == (b"private", os.geteuid(), 0o600)


@pytest.fixture
def fifo(root: Path) -> Path:
    path = root / "fifo"
    os.mkfifo(path)
    return path


def test_a_fifo_gets_the_content_even_if_its_reader_comes_late(fifo: Path) -> None:
    content, received = bytes(1 << 20), list[bytes]()
    reader = threading.Timer(0.2, lambda: received.append(fifo.read_bytes()))
    reader.start()
    write_fifo(fifo, content)
    reader.join()
    assert received == [content]


def test_a_fifo_that_nobody_reads_is_not_waited_for(fifo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_READER_S", 0.1)
    monkeypatch.setattr(writing, "_STALLED_S", 0.1)
    with pytest.raises(FileRefused, match="no program reads"):
        write_fifo(fifo, b"x")
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(TimeoutError, match="its reader has read nothing"):
            write_fifo(fifo, bytes(1 << 20))
    finally:
        os.close(reader)


def test_a_link_to_a_fifo_is_not_written_to(fifo: Path, root: Path) -> None:
    (root / "link").symlink_to(fifo)
    with pytest.raises(OSError, match="symbolic link"):
        write_fifo(root / "link", b"x")


@as_root
def test_a_fifo_of_another_user_gets_nothing(fifo: Path) -> None:
    os.chown(fifo, STRANGER, STRANGER)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(FileRefused, match="a FIFO of another user"):
            write_fifo(fifo, b"private")
        assert os.read(reader, 10) == b""
    finally:
        os.close(reader)


def test_a_prepared_temporary_file_is_not_used(root: Path, precious: Path) -> None:
    """The names of temporary files are random, so nobody can prepare a symbolic link with the same name."""
    (root / ".report.html.part").symlink_to(precious)
    write_output(root / "report.html", b"page")
    assert precious.read_text() == "precious\n"
    assert (root / "report.html").read_bytes() == b"page"
    assert sorted(each.name for each in root.iterdir()) == [".report.html.part", "report.html"]


def test_a_failed_write_leaves_no_temporary_file(root: Path) -> None:
    (root / "report").mkdir()
    with pytest.raises(FileRefused, match="directory"):
        write_output(root / "report", b"x")
    assert [each.name for each in root.iterdir()] == ["report"]


def test_a_torn_last_line_is_removed_before_the_next(root: Path) -> None:
    path = root / "lines"
    path.write_bytes(b"one\ntwo")
    append_line(path, b"three")
    assert list(whole_lines(path)) == [b"one", b"three"]
    assert list(whole_lines(root / "none")) == []


def test_a_directory_that_is_deleted_while_it_is_open_is_named(root: Path, message: Message) -> None:
    run = root / "run"
    run.mkdir()
    folder = Folder.open(run)
    run.rmdir()
    with pytest.raises(FileRefused, match="deleted") as raised:
        folder.open_file("file", os.O_WRONLY | os.O_CREAT)
    message(raised.value)
    assert raised.value.filename == str(run)
    with pytest.raises(FileRefused, match="it was deleted"):
        folder.below(run / "a", make=True)
