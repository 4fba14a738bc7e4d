"""Lines of fio's run status in which the name of what is compared replaces the direction."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_STATUS = "bw=21.5MiB/s (22.5MB/s), 21.5MiB/s-21.5MiB/s (22.5MB/s-22.5MB/s), io=5160MiB (5411MB), run=240010-240010msec"


@pytest.mark.parametrize(
    ("command", "direction"),
    [
        ("fio --rw=randwrite --bs=4k --direct=0 --directory=/srv", "write"),
        ("fio --rw=read --bs=4k --direct=0 --directory=/srv", "read"),
        ("fio --rw=randrw --bs=4k --direct=0 --directory=/srv", "mixed"),
        ("fio --rw=read --bs=4k --name=a\nfio --rw=write --bs=4k --name=b", "mixed"),
        ("", "mixed"),
    ],
)
def test_the_command_shows_the_direction(command: str, direction: str) -> None:
    found = audit_text("post", f"{command}\n\n6.9-rc2:\t{_STATUS}\n- with the patch: {_STATUS}\n", Context())

    assert [each.job for each in found] == ["fio: 6.9-rc2", "fio: with the patch"]
    for each in found:
        figures = each.figures.directions[direction]
        assert figures.bandwidth_bytes == pytest.approx(21.5 * 1024**2)
        assert (figures.io_bytes, figures.runtime_ms) == (5160 * 1024**2, 240010)


@pytest.mark.parametrize(
    "line",
    [
        "Write: " + _STATUS,
        "the rate is bw=21.5MiB/s (22.5MB/s)",
        "6.9-rc2: " + _STATUS.replace("msec", "s"),
        "6.9-rc2: " + _STATUS.replace("240010", "0"),
    ],
)
def test_other_lines_are_not_read_as_such_a_status(line: str) -> None:
    assert not [each for each in audit_text("post", f"{line}\n", Context()) if each.job.startswith("fio: ")]
