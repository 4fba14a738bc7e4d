"""A `dir` that another user could replace with a symbolic link is refused. The message names that user."""

import os
import sys
from pathlib import Path
from shutil import which

import pytest

from poolproof.errors import HostError
from poolproof.files import access_lists
from poolproof.hosts.local import LocalHost
from poolproof.provision import swappable
from poolproof.provision.directories import check_work
from poolproof.provision.swappable import DirectoryStat, check_not_swappable, replacer
from tests.golden import Message
from tests.unit.access_lists import NFS4_OF_MODE_755, OWNER, allow_to_write, nfs4_list


@pytest.mark.parametrize(
    ("owner", "group", "mode", "who"),
    [
        (0, 0, 0o755, None), (0, 0, 0o1777, None), (0, 0, 0o775, None), (1000, 1000, 0o775, None),
        (1000, 1000, 0o700, None), (1001, 1001, 0o755, "the user bob"), (1001, 0, 0o1777, "the user bob"),
        (0, 0, 0o777, "every user"), (0, 50, 0o2775, "the group staff"), (0, 50, 0o3775, None),
        (1000, 50, 0o770, "the group staff"),
    ],
)  # fmt: skip
def test_who_could_replace_a_directory(owner: int, group: int, mode: int, who: str | None) -> None:
    assert replacer(DirectoryStat(owner, group, mode, "bob", "staff", "/x"), user=1000) == who


def test_a_parent_that_everyone_can_write_to_is_refused(tmp_path: Path, message: Message) -> None:
    inner = tmp_path / "open" / "data"
    inner.mkdir(parents=True)
    inner.parent.chmod(0o777)
    with pytest.raises(HostError, match=r"every user .*/open ") as caught:
        check_not_swappable(LocalHost(), str(inner))
    message(caught.value)
    assert "ls -ld" in caught.value.hint
    inner.parent.chmod(0o1777)
    check_not_swappable(LocalHost(), str(inner))


def test_a_parent_that_an_access_control_list_opens_is_refused(tmp_path: Path, message: Message) -> None:
    inner = tmp_path / "open" / "data"
    inner.mkdir(parents=True)
    allow_to_write(inner.parent, 12345)
    with pytest.raises(HostError, match=r"access control list .*/open ") as found:
        check_not_swappable(LocalHost(), str(inner))
    message(found.value)
    assert f"chmod go-w {inner.parent}" in found.value.hint
    inner.parent.chmod(0o755)  # go-w: the list no longer allows anyone to write
    check_not_swappable(LocalHost(), str(inner))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can create a directory of another user")
def test_a_directory_inside_one_of_another_user_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "bob" / "data"
    inner.mkdir(parents=True)
    os.chown(inner.parent, 65534, 65534)
    with pytest.raises(HostError, match=r"user \w+ .*/bob "):
        check_not_swappable(LocalHost(), str(inner))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can create a directory of another user")
def test_a_work_directory_of_another_user_is_refused_unless_that_user_called_sudo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "bob"
    work.mkdir()
    os.chown(work, 65534, 65534)
    monkeypatch.delenv("SUDO_UID", raising=False)
    with pytest.raises(HostError, match=r"user \w+ .*/bob "):
        check_work(LocalHost(), f"{work}/poolproof-0badcafe")
    monkeypatch.setenv("SUDO_UID", "65534")
    check_work(LocalHost(), f"{work}/poolproof-0badcafe")
    monkeypatch.setenv("SUDO_UID", "65533")
    with pytest.raises(HostError):
        check_work(LocalHost(), f"{work}/poolproof-0badcafe")


@pytest.fixture(params=["python3", "getfattr"])
def in_user_attribute(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an attribute that takes the place of `system.nfs4_acl`, which only NFS has.

    It is read with Python or, if the host has no Python, with getfattr, which a script replaces.
    """
    name = "user.nfs4_acl"
    monkeypatch.setattr(access_lists, "NFS4", name)
    monkeypatch.setattr(swappable, "NFS4_LISTS", (name,))
    if request.param == "getfattr":
        programs = tmp_path / "bin"
        programs.mkdir()
        for each in ("sh", "id", "ls", "stat", "dirname", "sed"):
            (programs / each).symlink_to(str(which(each)))
        script = (
            f"#!{sys.executable}\nimport os, sys\n*_, name, _, path = sys.argv\n"
            "print('# file:', path); print(name + '=0x' + os.getxattr(path, name).hex())\n"
        )
        (programs / "getfattr").write_text(script)
        (programs / "getfattr").chmod(0o755)
        monkeypatch.setenv("PATH", str(programs))
    return name


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (NFS4_OF_MODE_755, None),
        (nfs4_list(OWNER, (0, 0, 2, "alice@example.org")), r"list of .*/shared, .*alice@example\.org could replace"),
        (nfs4_list(OWNER, (0, 0, 2, "EVERYONE@")), r"list of .*/shared, every user could replace"),
        (b"damaged", r"can't interpret the access control list of .*/shared \(user\.nfs4_acl\)"),
    ],
)
def test_a_parent_that_an_nfs4_list_opens_is_refused(
    tmp_path: Path, in_user_attribute: str, value: bytes, said: str | None
) -> None:
    inner = tmp_path / "shared" / "data"
    inner.mkdir(parents=True)
    os.setxattr(inner.parent, in_user_attribute, value)
    if said is None:
        check_not_swappable(LocalHost(), str(inner))
    else:
        with pytest.raises(HostError, match=said) as found:
            check_not_swappable(LocalHost(), str(inner))
        assert f"nfs4_getfacl {inner.parent}" in found.value.hint


def test_a_group_that_only_contains_the_owner_may_be_in_the_list(tmp_path: Path, in_user_attribute: str) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    os.setxattr(folder, in_user_attribute, nfs4_list(OWNER, (0, 0x40, 2, "GROUP@")))
    check_not_swappable(LocalHost(), str(folder))
    folders = {str(folder): DirectoryStat(1000, 50, 0o755, "bob", "staff", str(folder))}
    found = swappable._listed(LocalHost(), folders, 1000)
    assert found is not None and "the group could replace" in found[0]
