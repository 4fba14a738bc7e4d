"""The contents of an image, and that its name depends on all of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.errors import HostError, UsageError
from poolproof.lab.apt import AptSource, Offer
from poolproof.lab.build import built, chosen
from poolproof.lab.recipe import Recipe, check_series
from tests.golden import Message

SOURCE = AptSource("http://mirror.example/debian", "bookworm", ("main", "contrib"))
RECIPE = Recipe("2.1", "bookworm", (SOURCE,))
# apt-cache madison zfs-dkms on Debian 12 with its backports, November 2026
OFFERS = (Offer("2.3.2-2~bpo12+2", "bookworm-backports"), Offer("2.1.11-1+deb12u1", "bookworm"))


def test_the_same_recipe_has_the_same_name() -> None:
    assert RECIPE.name == replace(RECIPE).name
    assert RECIPE.name.startswith("zfs-2.1-bookworm-")


@pytest.mark.parametrize(
    "other",
    [
        replace(RECIPE, series="2.3"),
        replace(RECIPE, codename="trixie"),
        replace(RECIPE, sources=(replace(SOURCE, uri="http://other.example/debian"),)),
    ],
)
def test_a_different_recipe_has_a_different_name(other: Recipe) -> None:
    assert other.name != RECIPE.name


def test_openzfs_comes_from_the_backports_only_if_they_offer_the_series() -> None:
    assert "Package: src:zfs-linux\nPin: release n=bookworm-backports\n" in RECIPE.preferences("bookworm-backports")
    assert RECIPE.preferences("bookworm") == ""


def test_every_storage_system_of_the_layouts_is_in_the_image() -> None:
    wanted = {"zfs-dkms", "zfsutils-linux", "mdadm", "cryptsetup-bin", "lvm2", "btrfs-progs", "xfsprogs", "e2fsprogs"}
    assert wanted | {"mergerfs", "fio", "openssh-server", "linux-image-cloud-amd64"} <= set(RECIPE.packages)


@pytest.mark.parametrize(("series", "suite"), [("2.1", "bookworm"), ("2.3", "bookworm-backports")])
def test_the_series_is_taken_from_the_suite_that_has_it(series: str, suite: str) -> None:
    assert chosen(OFFERS, series).suite == suite


def test_an_unavailable_series_is_rejected_with_the_available_versions(message: Message) -> None:
    with pytest.raises(HostError, match=r"zfs-dkms 2\.1.* 2\.3\.2-2~bpo12\+2 in bookworm-backports") as refused:
        chosen(OFFERS[:1], "2.1")
    message(refused.value)


def test_the_suggested_series_is_one_that_is_available() -> None:
    with pytest.raises(HostError) as refused:
        chosen([offer for offer in OFFERS if offer.version.startswith("2.1.")], "2.3")
    assert refused.value.hint.endswith("poolproof lab build --zfs 2.1")


def test_an_unknown_series_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--zfs 9"):
        check_series("9")


def test_a_copied_image_is_used_if_none_can_be_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: Message
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    etc_apt = tmp_path / "nothing"
    with pytest.raises(HostError, match="suite") as refused:
        built("2.1", etc_apt)
    message(refused.value)
    copied = tmp_path / "poolproof" / "lab" / "images" / "zfs-2.1-bookworm-0123456789"
    copied.mkdir(parents=True)
    assert built("2.1", etc_apt).folder == copied
    with pytest.raises(HostError, match="suite"):
        built("2.3", etc_apt)
