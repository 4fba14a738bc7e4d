"""Nothing that another user may have put into the cache is used, and nothing but its own files is deleted from it."""

import hashlib
import os
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from poolproof.errors import HostError
from poolproof.files.cache import cache_folder, own_cache
from poolproof.lab.home import lab_folder
from poolproof.presentation.html_report import assets
from poolproof.results.query import copies
from tests.unit.access_lists import as_root

_STRANGER = 12345


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory that XDG_CACHE_HOME names. Like /tmp, it lets all users create files."""
    base = tmp_path / "base"
    base.mkdir()
    base.chmod(0o1777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(base))
    return base


def test_the_cache_is_created_for_this_user_only(base: Path) -> None:
    assert own_cache("query") == base / "poolproof/query"
    assert (base / "poolproof/query").stat().st_mode & 0o777 == 0o700
    assert lab_folder() == base / "poolproof/lab"


@as_root
@pytest.mark.parametrize("place", ["poolproof", "poolproof/query"])
def test_a_folder_of_another_user_is_not_used(base: Path, place: str) -> None:
    (base / "poolproof/query").mkdir(parents=True)
    os.chown(base / place, _STRANGER, _STRANGER)
    assert own_cache("query") is None


@as_root
def test_a_link_to_a_folder_of_another_user_is_not_used(base: Path, tmp_path: Path) -> None:
    (base / "poolproof").symlink_to(tmp_path / "other")
    (tmp_path / "other/query").mkdir(parents=True)
    assert own_cache("query") == tmp_path / "other/query"
    os.chown(tmp_path / "other", _STRANGER, _STRANGER)
    assert own_cache("query") is None


def test_a_folder_that_everyone_can_write_to_is_not_used(base: Path) -> None:
    (base / "poolproof/query").mkdir(parents=True)
    (base / "poolproof/query").chmod(0o777)
    assert own_cache("query") is None


def test_a_file_in_the_place_of_the_cache(base: Path) -> None:
    (base / "poolproof").write_text("")
    assert own_cache("query") is None


def test_a_user_without_a_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", _no_home)
    with pytest.raises(OSError, match="no home directory"):
        cache_folder("query")
    assert own_cache("query") is None
    with pytest.raises(HostError, match="no home directory"):
        lab_folder()


def _no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


@as_root
def test_a_lab_folder_of_another_user_is_refused(base: Path) -> None:
    """It could contain an ssh configuration that runs programs."""
    lab_folder()
    os.chown(base / "poolproof", _STRANGER, _STRANGER)
    with pytest.raises(HostError, match=f"cannot be used for labs: .* belongs to user {_STRANGER}"):
        lab_folder()


@as_root
@pytest.mark.parametrize("owner", [0, _STRANGER])
def test_a_script_of_another_user_is_not_embedded_in_a_report(base: Path, owner: int) -> None:
    script = "alert('not from Vega')"
    digest = hashlib.sha256(script.encode()).hexdigest()[:32]
    file = base / "poolproof/page" / f"vega-{version('vl-convert-python')}-{digest}.js"
    file.parent.mkdir(parents=True)
    file.write_text(script)
    os.chown(file.parent, owner, owner)
    assert (assets.vega_script() == script) == (owner == 0)


def test_only_cached_files_are_deleted(base: Path) -> None:
    folder = base / "poolproof/query"
    folder.mkdir(parents=True)
    names = [f"{'0' * 32}.parquet", f"{'0' * 32}.cells", f".{'0' * 32}.parquet.123", "photos.parquet", "thesis.txt"]
    for name in names:
        (folder / name).write_text("")
        os.utime(folder / name, (time.time() - 1e7,) * 2)
    copies.keep([])
    assert sorted(path.name for path in folder.iterdir()) == ["photos.parquet", "thesis.txt"]
