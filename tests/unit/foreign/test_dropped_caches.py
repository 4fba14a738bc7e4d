"""Statements that caches were dropped: every form of drop_caches, and text that only looks similar."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text
from poolproof.foreign.dropped_caches import drops_caches, drops_clean_pages, syncs

DROPS = [
    "echo 3 > /proc/sys/vm/drop_caches",
    "# echo 1 >/proc/sys/vm/drop_caches",
    "sync; echo 1 > /proc/sys/vm/drop_caches",
    "free && sync && echo 3 | sudo tee /proc/sys/vm/drop_caches",
    "sudo sh -c 'sync; echo 3 > /proc/sys/vm/drop_caches'",
    "sysctl -w vm.drop_caches=3",
    "sudo sysctl vm.drop_caches=1",
    "sudo tee /proc/sys/vm/drop_caches <<< 3",
    "I used drop_caches between the runs.",
]
KEEPS = [
    "echo 2 > /proc/sys/vm/drop_caches",
    "sync; echo 2 | sudo tee /proc/sys/vm/drop_caches",
    "sysctl -w vm.drop_caches=2",
    "cat /proc/sys/vm/drop_caches",
    "sysctl vm.drop_caches",
    "I did not use drop_caches between the runs.",
    "I didn't run drop_caches first",
    "mount -o remount,noatime /mnt",
]
DD = """$ dd if=/dev/zero of=/mnt/a bs=1M count=1024
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.8 s, 1.3 GB/s
$ {between}
$ dd if=/mnt/a of=/dev/null bs=1M
1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.2 s, 5.4 GB/s
"""


@pytest.mark.parametrize("line", DROPS)
def test_every_form_of_drop_caches_counts(line: str) -> None:
    assert drops_caches(line)
    assert drops_clean_pages(line)


@pytest.mark.parametrize("line", KEEPS)
def test_lines_that_free_no_file_data_do_not_count(line: str) -> None:
    assert not drops_caches(line)


@pytest.mark.parametrize("line", ["umount /mnt", "zpool export tank && zpool import tank", "sudo purge", "reboot"])
def test_these_empty_the_cache_of_dirty_data_too(line: str) -> None:
    assert drops_caches(line)
    assert not drops_clean_pages(line)


def test_sync_is_a_command_and_not_an_option() -> None:
    assert syncs("free && sync && echo 3 | sudo tee /proc/sys/vm/drop_caches")
    assert syncs("/bin/sync; echo 1 > /proc/sys/vm/drop_caches")
    assert not syncs("fio --sync=1 --ioengine=sync  # then sync")


@pytest.mark.parametrize("between", ["sync; echo 2 > /proc/sys/vm/drop_caches", "cat /proc/sys/vm/drop_caches"])
def test_audit_doubts_a_read_after_a_command_that_drops_no_file_data(between: str) -> None:
    text = DD.format(between=between)
    kept = audit_text("post", text, Context())[-1]
    dropped = audit_text("post", text.replace(between, "sync; echo 1 > /proc/sys/vm/drop_caches"), Context())[-1]
    assert any("wrote this file" in finding.message for finding in kept.findings)
    assert not any("wrote this file" in finding.message for finding in dropped.findings)


@pytest.mark.parametrize(
    ("write", "between", "is_doubted"),
    [
        ("", "echo 3 > /proc/sys/vm/drop_caches", True),
        ("", "# sysctl -w vm.drop_caches=3", True),
        ("", "sync\n$ echo 3 | sudo tee /proc/sys/vm/drop_caches", False),
        (" conv=fdatasync", "sysctl -w vm.drop_caches=3", False),
        ("", "umount /mnt; mount /mnt", False),
        ("", "I dropped the caches with drop_caches before I read it.", False),
    ],
)
def test_drop_caches_without_a_sync_leaves_a_new_file_in_ram(write: str, between: str, is_doubted: bool) -> None:
    text = DD.format(between=between).replace("count=1024", f"count=1024{write}")
    messages = [finding.message for finding in audit_text("post", text, Context())[-1].findings]
    assert any("dirty pages" in message for message in messages) == is_doubted
    assert any("wrote this file" in message for message in messages) == is_doubted


@pytest.mark.parametrize(
    ("after", "between", "words"),
    [
        ("; sync", "echo 3 > /proc/sys/vm/drop_caches", ""),
        (" && sync && echo 3 > /proc/sys/vm/drop_caches", "ls /mnt", ""),
        ("; echo 3 > /proc/sys/vm/drop_caches", "ls /mnt", "without a sync"),
        ("", "ls /mnt", "wrote this file"),
    ],
)
def test_what_follows_dd_on_its_line_runs_after_it(after: str, between: str, words: str) -> None:
    text = DD.format(between=between).replace("count=1024", f"count=1024{after}")
    messages = [finding.message for finding in audit_text("post", text, Context())[-1].findings]
    assert any("wrote this file" in message for message in messages) == bool(words)
    assert any(words in message for message in messages)


def test_an_option_of_dd_is_no_sync() -> None:
    assert not syncs("dd if=/dev/sda of=/dev/sdb conv=noerror,sync")
