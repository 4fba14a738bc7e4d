"""The stages of a build, tested with substitutes for apt, mmdebstrap and mke2fs that create a small tree."""

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from poolproof.errors import HostError
from poolproof.lab.apt import AptSource
from poolproof.lab.build import build
from poolproof.lab.recipe import Recipe
from tests.golden import Message

_GIB = 1 << 30
_Usage = namedtuple("_Usage", "total used free")

# The last two add a line to `calls` when run. The kernel file contains the number of trees made so far.
_AS_ROOT = '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n'
_PROGRAMS = {
    "apt-get": "#!/bin/sh\n",
    "apt-cache": "#!/bin/sh\necho 'zfs-dkms | 2.1.11-1 | http://mirror.example bookworm/contrib amd64 Packages'\n",
    "unshare": _AS_ROOT,
    "fakeroot": _AS_ROOT,
    "newuidmap": "#!/bin/sh\n",
    "mmdebstrap": """\
#!/bin/sh
echo tree >>"$STAND_INS/calls"
for word; do case $word in */tree.part) part=$word ;; esac; done
mkdir -p "$STAND_INS"/tree/boot
grep -c tree "$STAND_INS/calls" >"$STAND_INS/tree/boot/kernel"
touch "$STAND_INS"/tree/boot/initrd
tar -C "$STAND_INS"/tree -cf "$part" .
""",
    "mke2fs": """\
#!/bin/sh
echo disk >>"$STAND_INS/calls"
[ ! -e "$STAND_INS"/stop ] || { echo "stopped" >&2; exit 1; }
for word; do case $word in */disk.raw) : >"$word" ;; esac; done
""",
}


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """A recipe that no other build on this machine uses."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in _PROGRAMS.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("STAND_INS", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    _free(monkeypatch, 100 * _GIB)
    return Recipe("2.1", "bookworm", (AptSource(f"http://{tmp_path.name}.example", "bookworm", ("main",)),))


def _free(monkeypatch: pytest.MonkeyPatch, size_bytes: int) -> None:
    """Pretend that the disk has this many bytes left."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: _Usage(200 * _GIB, 0, size_bytes))


def _build(recipe: Recipe, *, anew: bool = False) -> str:
    """Build the image, and return the contents of its kernel file."""
    return build(recipe, lambda _line: None, anew=anew).kernel.read_text().strip()


def _calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "calls").read_text().split()


def _work(tmp_path: Path, recipe: Recipe) -> Path:
    return tmp_path / "poolproof" / "lab" / "work" / recipe.name


def _stopped(tmp_path: Path, recipe: Recipe, *, anew: bool = False) -> None:
    (tmp_path / "stop").touch()
    with pytest.raises(HostError, match="disk image: stopped"):
        _build(recipe, anew=anew)
    (tmp_path / "stop").unlink()


def test_an_interrupted_build_continues_where_it_stopped(tmp_path: Path, recipe: Recipe) -> None:
    _stopped(tmp_path, recipe)
    assert _build(recipe) == "1"
    assert _calls(tmp_path) == ["tree", "disk", "disk"]
    assert not _work(tmp_path, recipe).exists()
    assert _build(recipe) == "1"
    assert _calls(tmp_path) == ["tree", "disk", "disk"]


def test_a_build_with_anew_reuses_nothing_of_an_interrupted_one(tmp_path: Path, recipe: Recipe) -> None:
    _stopped(tmp_path, recipe)
    assert _build(recipe, anew=True) == "2"
    _stopped(tmp_path, recipe, anew=True)
    assert _build(recipe, anew=True) == "4"


@pytest.mark.parametrize("anew", [False, True])
def test_an_old_image_left_by_a_killed_build_does_not_disturb_the_next_build(
    tmp_path: Path, recipe: Recipe, anew: bool
) -> None:
    image = build(recipe, lambda _line: None)
    _stopped(tmp_path, recipe, anew=True)
    old = _work(tmp_path, recipe) / "old"
    if anew:
        shutil.copytree(image.folder, old)
    else:
        image.folder.rename(old)
    assert _build(recipe, anew=anew) == ("3" if anew else "2")
    assert not _work(tmp_path, recipe).exists()


def test_a_full_disk_is_reported_before_the_build_begins(
    tmp_path: Path,
    recipe: Recipe,
    monkeypatch: pytest.MonkeyPatch,
    message: Message,
) -> None:
    _free(monkeypatch, _GIB)
    with pytest.raises(HostError, match=r" 1 GiB .* 4 GiB") as caught:
        _build(recipe)
    message(caught.value)
    assert "XDG_CACHE_HOME" in caught.value.hint
    assert not (tmp_path / "calls").exists()
