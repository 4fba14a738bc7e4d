"""LUKS: the exact commands, which never contain the key."""

from dataclasses import replace
from uuid import UUID

import pytest

from poolproof.evidence.target_facts import Target
from poolproof.layers import open_layout
from poolproof.layers.luks import UndoMapping
from poolproof.layers.shared_steps import signature_uuid
from poolproof.undos import UndoTree

from .ground import GIB, MIB, SITE, plan
from .recorded import RecordedHost

KEY = "/run/poolproof/r1/ram.mix-luks.key"
MAPPING = "poolproof-r1-mix-luks"
FORMAT = ("cryptsetup", "luksFormat", "--batch-mode", "--key-file", KEY)
OPEN = ("cryptsetup", "open", "--key-file", KEY)
LEAST = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")


def test_a_device_is_encrypted_opened_and_closed() -> None:
    built = plan("a | luks cipher=aes-xts-plain64 key-size=512 sector-size=4096 allow-discards | ext4")
    key, wiped, formatted, opened = built.make[:4]
    assert key.argv[3:] == (KEY,)
    assert key.undo == UndoTree(KEY)
    assert wiped.argv == ("wipefs", "-a", "-q", "/dev/a")
    uuid = signature_uuid(SITE, "mix-luks")
    kind, cipher = ("--type", "luks2", "--uuid", uuid), ("--cipher", "aes-xts-plain64", "--key-size", "512")
    assert formatted.argv == (*FORMAT, *kind, *cipher, "--sector-size", "4096", *LEAST, "/dev/a")
    assert formatted.overwrites == ("/dev/a",)
    assert opened.argv == (*OPEN, "--allow-discards", "/dev/a", MAPPING)
    assert opened.undo == UndoMapping(MAPPING)
    assert built.close[-1].argv == ("cryptsetup", "close", MAPPING)
    assert built.open[0] == opened
    assert built.block_paths == {f"/dev/mapper/{MAPPING}"}
    assert [leaf.name for leaf in built.leaves] == ["a"]


def test_the_uuid_of_a_header_begins_with_the_runs_label() -> None:
    own = replace(SITE, label="a1b2c3d4")
    uuids = {signature_uuid(own, name) for name in ("one", "two")}
    assert len(uuids) == 2
    assert {str(UUID(uuid)) for uuid in uuids} == uuids
    assert all(uuid.startswith("a1b2c3d4-") for uuid in uuids)


@pytest.mark.parametrize("said", ["iter-time=5000", "pbkdf=argon2id"])
def test_key_stretching_of_the_layout_is_used(said: str) -> None:
    formatted = plan(f"a | luks {said}").make[2].argv
    assert "--pbkdf-force-iterations" not in formatted
    assert f"--{said.split('=')[0]}" in formatted


def test_integrity_writes_the_whole_device_and_takes_its_time() -> None:
    formatted, opened = plan("a | luks integrity=hmac-sha256 integrity-no-journal", size_bytes=100 * GIB).make[2:4]
    assert formatted.timeout_s > 3600
    assert opened.argv[4] == "--integrity-no-journal"
    formatted, opened = plan("a | luks integrity=hmac-sha256 integrity-no-wipe", size_bytes=100 * GIB).make[2:4]
    assert formatted.argv[-2:] == ("--integrity-no-wipe", "/dev/a")
    assert formatted.timeout_s < 3600
    assert "--integrity-no-wipe" not in opened.argv


def test_two_mappings_have_two_keys_and_two_names() -> None:
    built = plan("zfs a log (b | luks) cache (c | luks)", size_bytes=512 * MIB)
    made = [step for step in built.make if step.argv[:2] == ("cryptsetup", "open")]
    assert len({step.argv[3] for step in made}) == len({step.argv[-1] for step in made}) == 2


@pytest.mark.parametrize(
    ("text", "journals"),
    [
        ("a | luks integrity=hmac-sha256 | ext4", True),
        ("a | luks integrity=hmac-sha256 integrity-no-journal", False),
        ("a | luks", False),
    ],
)
def test_the_journal_of_dm_integrity_is_reported(text: str, journals: bool) -> None:
    assert open_layout.describe(plan(text), RecordedHost(), Target("ext4")).journals_in_ram is journals
