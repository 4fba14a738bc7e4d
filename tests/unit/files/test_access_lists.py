"""NFSv4 access control lists: who may write, and lists that cannot be interpreted."""

import errno
import os
from pathlib import Path

import pytest

from poolproof.files.access_lists import EVERYONE, GROUP, LISTS, NFS4, UNKNOWN, read_lists, writers
from tests.unit.access_lists import NFS4_OF_MODE_755, OWNER, nfs4_list

_ADD_FILE, _DELETE_CHILD, _READ = 0x2, 0x40, 0x1200A9


@pytest.mark.parametrize(
    ("entries", "who"),
    [
        ([OWNER, (0, 0x40, _READ, "GROUP@"), (0, 0, _READ, "EVERYONE@")], ()),
        ([OWNER, (0, 0, _READ | _ADD_FILE, "alice@example.org")], ("alice@example.org",)),
        ([OWNER, (0, 0, _DELETE_CHILD, "1007")], ("1007",)),
        ([OWNER, (0, 0, 0x40000, "EVERYONE@"), (0, 0x40, 0x4, "GROUP@")], (EVERYONE, GROUP)),
        ([OWNER, (0, 0, 0x80000, "bob"), (0, 0, 0x10000, "bob")], ("bob",)),
        ([OWNER, (0, 0, _ADD_FILE, "0"), (0, 0, _ADD_FILE, "1000")], ()),  # trusted
        ([OWNER, (0, 0x8 | 0x3, _ADD_FILE, "EVERYONE@")], (EVERYONE,)),  # for what is created in the directory
        ([OWNER, (1, 0, _ADD_FILE, "EVERYONE@"), (2, 0, _ADD_FILE, "eve"), (3, 0, _ADD_FILE, "eve")], ()),
        ([], ()),
    ],
)
def test_who_may_write(entries: list[tuple[int, int, int, str]], who: tuple[str, ...]) -> None:
    assert writers(NFS4, nfs4_list(*entries), {0, 1000}) == who


def test_with_the_sticky_bit_it_matters_only_who_may_delete() -> None:
    adds = nfs4_list(OWNER, (0, 0, _ADD_FILE, "EVERYONE@"))
    deletes = nfs4_list(OWNER, (0, 0, _DELETE_CHILD, "EVERYONE@"))
    assert writers(NFS4, adds, {0}, sticky=True) == ()
    assert writers(NFS4, deletes, {0}, sticky=True) == (EVERYONE,)


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"\0\0\0",
        NFS4_OF_MODE_755[:-1],
        NFS4_OF_MODE_755 + b"\0",
        b"\xff\xff\xff\xff" + NFS4_OF_MODE_755[4:],
        nfs4_list((0, 0, 2, "x")).replace(b"x", b"\xff"),
    ],
)
def test_a_list_that_cannot_be_interpreted_is_not_taken_for_an_empty_one(value: bytes | None) -> None:
    assert writers(NFS4, value, {0}) == (UNKNOWN,)


@pytest.mark.parametrize("name", [each for each in LISTS if each != NFS4])
def test_a_list_in_another_format_is_unknown(name: str) -> None:
    assert writers(name, NFS4_OF_MODE_755, {0}) == (UNKNOWN,)


def test_a_list_that_cannot_be_read_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_lists(tmp_path) == {}

    def getxattr(_path: Path, name: str, *, follow_symlinks: bool) -> bytes:
        assert not follow_symlinks
        raise OSError(errno.EACCES if name == NFS4 else errno.ENODATA, "")

    monkeypatch.setattr(os, "getxattr", getxattr)
    assert read_lists(tmp_path) == {NFS4: None}
