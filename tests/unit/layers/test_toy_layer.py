"""A layer is one file: with a layer outside the package, everything supports it and nothing else changes."""

import importlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import CampaignError, HostError
from poolproof.facts.block import Mount
from poolproof.lab import recipe
from poolproof.lab.apt import AptSource
from poolproof.layers import catalogue, tree
from poolproof.layers.catalogue import all_layers, recorded_settings
from poolproof.layers.least_trial import check_budget, least_trials_s

from .ground import GIB, SITE, plan, resolve
from .recorded import RecordedHost
from .toys import toy_layers


@pytest.fixture(autouse=True)
def _toy() -> Iterator[None]:
    with toy_layers():
        yield
    importlib.reload(recipe)


def test_it_is_found_parsed_and_planned() -> None:
    assert "ext2" in all_layers()
    built = plan("hdd1 | ext2 noatime blocksize=1024")
    commands = [step.argv for step in built.make]
    assert ("mkfs.ext2", "-q", "-F", "-b", "1024", "/dev/hdd1") in commands
    assert commands[-1][:5] == ("mount", "-t", "ext2", "-o", "noatime")
    assert (tree.write_factor(built.top.node), tree.redundancy(built.top.node)) == (1, 0)
    assert tree.capacity_bytes(built.top.node, {"hdd1": 10 * GIB}) == 8 * GIB


def test_its_mistakes_and_requirements_are_reported() -> None:
    with pytest.raises(CampaignError, match="did you mean `blocksize`"):
        resolve("hdd1 | ext2 blocksiz=1024")
    with pytest.raises(HostError) as caught:
        tree.needs(resolve("hdd1 | ext2"), SITE)
    assert "mkfs.ext2" in caught.value.message
    assert "the kernel module ext2" in caught.value.message
    assert "toy-progs toy-dkms" in caught.value.hint
    able = replace(SITE, programs=SITE.programs | {"mkfs.ext2"}, modules=frozenset({"ext2"}))
    tree.needs(resolve("hdd1 | ext2"), able)
    with pytest.raises(HostError, match="ext2 needs at least 1 MiB"):
        plan("hdd1 | ext2", size_bytes=1024)


def test_its_version_and_settings_are_recorded() -> None:
    version = all_layers()["ext2"].version
    assert version is not None
    assert version.name == "toyfs"
    assert recorded_settings()["/proc/sys/vm/swappiness"] == "toy_swappiness"


def test_the_image_of_the_lab_gets_its_packages_and_its_compiled_module() -> None:
    source = AptSource("http://mirror.example/debian", "bookworm", ("main", "contrib"))
    without = recipe.Recipe("2.1", "bookworm", (source,)).name
    importlib.reload(recipe)
    with_toy = recipe.Recipe("2.1", "bookworm", (source,))
    assert with_toy.name != without
    assert {"toy-progs", "toy-dkms", "toy-extras"} <= set(recipe.PACKAGES)
    argv = recipe.build_command(with_toy, "unshare", Path("/archives"), "", Path("/tree"), Path("/scratch"))
    assert any(f"--include={','.join(recipe.PACKAGES)}" == word for word in argv)
    (finish,) = (word for word in argv if word.startswith("--customize-hook="))
    assert f"MODULES='{' '.join(recipe.DKMS_MODULES)}' " in finish
    assert {"ext2", "zfs"} == set(recipe.DKMS_MODULES)
    assert "Package: toy-progs\nPin: release n=bookworm-backports\n" in with_toy.preferences("bookworm")


def test_mounts_that_poolproof_did_not_build_are_described() -> None:
    mount = Mount("0:50", "/srv", "ext2", "none", ("rw", "compressed"))
    assert catalogue.compression_of(mount) == "toy"
    assert catalogue.compressed_unit_bytes("ext2") == 65536
    mounts = "24 1 0:50 / /srv rw - ext2 none rw,compressed\n"
    host = RecordedHost({("realpath", "--canonicalize-existing", "/srv"): "/srv\n"}, {"/proc/self/mountinfo": mounts})
    assert [below.device for below in catalogue.device_under(host, "/srv")] == ["toydisk"]
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
    assert least_trials_s(campaign) == {("one", "w"): 21.0}
    with pytest.raises(CampaignError, match=r"^c.yaml:5: .*2 trials of 21 s"):
        check_budget(campaign)
