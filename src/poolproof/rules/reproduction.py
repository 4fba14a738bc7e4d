"""Shell scripts that show a pitfall: they print what the disk counted next to fio's own output."""

_HEAD = """\
#!/bin/sh
# Run this in a directory on the file system to test. It leaves its test files there as ./trap*. It needs fio.
set -eu
disk=/sys/class/block/$(basename "$(findmnt -nvo SOURCE -T .)")/stat
counted() { awk -v at="$1" '{printf "%s: %d MiB read, %d MiB written by the disk\\n", at, $3/2048, $7/2048}' "$disk"; }
"""


def script(trap: str, before: str = "", needs: str = "") -> str:
    """Return the whole script: prepare, count, run, count, sync, count. `needs`: a requirement to show the reader."""
    lines = [f"# {needs}\n" if needs else "", f"{before}\n" if before else "", "sync; counted before\n"]
    return _HEAD + "".join(lines) + f"{trap}\ncounted 'when fio ended'\nsync; counted 'after a sync'\n"
