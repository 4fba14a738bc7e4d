"""Tables with titles between their rows, and tests whose name says the share of reads or writes, as ezFIO prints."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_TABLE = """\
Test Description                                        BW(MB/s)      IOPS  Lat(us)
------------------------------------------------------- -------- --------- --------

---Sequential Preconditioning---
Sequential Preconditioning Pass 1                           DONE      DONE     DONE
Sequential Preconditioning Pass 2                           DONE      DONE     DONE

---Sequential Read Tests by Block Size---
Sequential Read Tests by Block Size, BS=512                 0.00         0      0.0
Sequential Read Tests by Block Size, BS=4096              953.13   244,002      7.9

---4KB Random mixed 30% Write Tests by Threads---
4KB Random mixed 30% Write Tests by Threads, Threads=64   2,000.00   512,000    125.0
"""


def _found(text: str) -> list[tuple[str, str, float | None, float | None]]:
    return [
        (each.job, kind, figures.iops, figures.bandwidth_bytes)
        for each in audit_text("post", text, Context())
        for kind, figures in each.figures.directions.items()
    ]


def test_titles_and_rows_without_values_do_not_end_a_table() -> None:
    assert _found(_TABLE) == [
        ("Sequential Read Tests by Block Size, BS=4096", "read", 244_002, 953.13 * 2**20),
        ("4KB Random mixed 30% Write Tests by Threads, Threads=64", "mixed", 512_000, 2000 * 2**20),
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("4KB Random 30% Write", "mixed"),
        ("4KB 70 % random reads", "mixed"),
        ("4KB Random 100% Write", "write"),
        ("4KB Random Write", "write"),
    ],
)
def test_a_name_may_say_the_share_of_the_writes(name: str, kind: str) -> None:
    text = f"Test Description      BW(MB/s)      IOPS\n{name:<21}   2000.00   512000\n"

    assert [each[1] for each in _found(text)] == [kind]


@pytest.mark.parametrize("between", ["", "\n", "Results of another disk:\n", "--- | ---\n"])
def test_two_blank_lines_end_a_table_without_a_title_below_them(between: str) -> None:
    text = _TABLE.replace("\n---Sequential Read Tests by Block Size---\n", f"\n\n{between}")

    assert not _found(text)
