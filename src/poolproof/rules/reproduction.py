"""Shell scripts that show a trap: what fio says beside what the disk counted."""

_HEAD = """\
#!/bin/sh
# Run this in a directory on the file system to look at; it leaves its test files behind as ./trap*. Needs fio.
set -eu
disk=/sys/class/block/$(basename "$(findmnt -nvo SOURCE -T .)")/stat
counted() { awk -v at="$1" '{printf "%s: %d MiB read, %d MiB written by the disk\\n", at, $3/2048, $7/2048}' "$disk"; }
"""


def script(trap: str, before: str = "", needs: str = "") -> str:
    """A whole script: prepare, count, do, count, sync, count. `needs`: what else must be there, for the reader."""
    lines = [f"# {needs}\n" if needs else "", f"{before}\n" if before else "", "sync; counted before\n"]
    return _HEAD + "".join(lines) + f"{trap}\ncounted 'when fio ended'\nsync; counted 'after a sync'\n"
