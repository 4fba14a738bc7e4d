"""A layer is a single file: a layer outside the package is supported everywhere, without any other change."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.cell_key import CellKey
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, HostError
from poolproof.facts.block import Mount
from poolproof.lab import contents, recipe
from poolproof.lab.apt import AptSource, codename_of, for_image
from poolproof.lab.build import built
from poolproof.lab.labs import Image, image_named
from poolproof.layers import layer_catalogue, tree
from poolproof.layers.layer_catalogue import all_layers, recorded_settings
from poolproof.layers.least_trial import check_budget, least_trials_s

from .ground import GIB, SITE, plan, resolve
from .recorded import RecordedHost
from .toys import toy_layers

SOURCE = AptSource("http://mirror.example/debian", "bookworm", ("main", "contrib"))
NAME_WITHOUT_TOY = recipe.Recipe("2.1", "bookworm", (SOURCE,)).name


@pytest.fixture(autouse=True)
def _toy() -> Iterator[None]:
    with toy_layers():
        yield


def test_it_is_found_parsed_and_planned() -> None:
    assert "ext2" in all_layers()
    built = plan("hdd1 | ext2 noatime blocksize=1024")
    commands = [step.argv for step in built.make]
    assert ("mkfs.ext2", "-q", "-F", "-L", "r1", "-b", "1024", "/dev/hdd1") in commands
    assert commands[-1][:5] == ("mount", "-t", "ext2", "-o", "noatime")
    assert (tree.write_factor(built.top.node), tree.redundancy(built.top.node)) == (1, 0)
    assert tree.capacity_bytes(built.top.node, {"hdd1": 10 * GIB}) == 8 * GIB


def test_its_mistakes_and_requirements_are_reported() -> None:
    with pytest.raises(CampaignError, match="`blocksize`"):
        resolve("hdd1 | ext2 blocksiz=1024")
    with pytest.raises(HostError) as caught:
        tree.needs(resolve("hdd1 | ext2"), SITE)
    assert "mkfs.ext2" in caught.value.message
    assert "the kernel module ext2" in caught.value.message
    assert "toy-progs toy-dkms" in caught.value.hint
    able = replace(SITE, programs=SITE.programs | {"mkfs.ext2"}, modules=frozenset({"ext2"}))
    tree.needs(resolve("hdd1 | ext2"), able)
    with pytest.raises(HostError, match=r"ext2 .* 1 MiB"):
        plan("hdd1 | ext2", size_bytes=1024)


def test_its_version_and_settings_are_recorded() -> None:
    version = all_layers()["ext2"].version
    assert version is not None
    assert version.name == "toyfs"
    assert recorded_settings()["/proc/sys/vm/swappiness"] == "toy_swappiness"


def test_the_image_of_the_lab_gets_its_packages_and_its_compiled_module() -> None:
    with_toy = recipe.Recipe("2.1", "bookworm", (SOURCE,))
    assert with_toy.name != NAME_WITHOUT_TOY
    assert {"toy-progs", "toy-dkms", "toy-extras"} <= set(with_toy.packages)
    argv = recipe.build_command(with_toy, "unshare", Path("/archives"), "", Path("/tree"), Path("/scratch"))
    assert any(f"--include={','.join(with_toy.packages)}" == word for word in argv)
    (finish,) = (word for word in argv if word.startswith("--customize-hook="))
    assert f"MODULES='{' '.join(contents.dkms_modules())}' " in finish
    assert {"ext2", "zfs"} == set(contents.dkms_modules())
    assert "Package: toy-progs\nPin: release n=bookworm-backports\n" in with_toy.preferences("bookworm")
    assert {source.components for source in for_image((SOURCE,), "bookworm", contents.components())} == {
        ("main", "non-free", "contrib")
    }


def test_an_image_of_the_lab_that_lacks_its_packages_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with_toy = recipe.Recipe("2.1", "bookworm", (SOURCE,))
    old = _image(NAME_WITHOUT_TOY, {"packages": [each for each in with_toy.packages if not each.startswith("toy-")]})
    message = f"the older image {old.folder.name} does not have toy-progs, toy-extras, toy-dkms"
    with pytest.raises(HostError, match=message) as not_built:
        built("2.1", _etc_apt(tmp_path))
    assert not_built.value.hint.startswith("poolproof lab build --zfs 2.1")
    text = "devices: {a: {file: 1G}}\nlayouts: {one: a | ext4, two: a | ext2}\nworkloads: {w: {rw: write, size: 64m}}\n"
    campaign = parse_campaign(text, "c.yaml")
    with pytest.raises(HostError, match=r"\bext2 .*toy-progs, toy-extras, toy-dkms\n") as caught:
        contents.check_image(old, campaign, "build it again")
    assert caught.value.hint == "build it again"
    contents.check_image(old, replace(campaign, layouts=campaign.layouts[:1]), "")
    for name, about in (("unknown", {}), ("damaged", []), ("complete", {"packages": with_toy.packages})):
        contents.check_image(_image(f"zfs-2.1-bookworm-{name}", about), campaign, "")
    assert built("2.1", tmp_path / "nowhere").folder.name != old.folder.name  # the best copy if it can't be built


def _image(name: str, about: object) -> Image:
    image = image_named(name)
    image.folder.mkdir(parents=True)
    (image.folder / "about.json").write_text(json.dumps(about))
    return image


def _etc_apt(folder: Path) -> Path:
    """Return a folder with an apt source for this machine's suite, so that an image could be built."""
    suite = codename_of(Path("/etc/os-release").read_text())
    (folder / "sources.list").write_text(f"deb http://mirror.example/debian {suite} main\n")
    return folder


def test_mounts_that_poolproof_did_not_build_are_described() -> None:
    mount = Mount("0:50", "/srv", "ext2", "none", ("rw", "compressed"))
    assert layer_catalogue.compression_of(mount) == "toy"
    assert layer_catalogue.compressed_unit_bytes("ext2") == 65536
    mounts = "24 1 0:50 / /srv rw - ext2 none rw,compressed\n"
    host = RecordedHost({("realpath", "--canonicalize-existing", "/srv"): "/srv\n"}, {"/proc/self/mountinfo": mounts})
    assert [below.device for below in layer_catalogue.device_under(host, "/srv")] == ["toydisk"]
    assert "toy work" in all_layers()["ext2"].busy_on(frozenset({"toydisk"}), host)


def test_the_schedule_and_the_budget_know_its_write_back() -> None:
    text = """\
devices: {a: {file: 2G}}
layouts: {one: a | ext2}
workloads: {w: {rw: write, bs: 4k, size: 64m}}
measure: {until: 3%, min: 3s, trials: 2..6}
budget: 20s
"""
    campaign = parse_campaign(text, "c.yaml")
    assert least_trials_s(campaign) == {CellKey("one", "w"): 21.0}
    with pytest.raises(CampaignError, match=r"^c.yaml:5: .*2 trials of 21 s"):
        check_budget(campaign)
