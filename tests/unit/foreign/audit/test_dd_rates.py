"""Rates of dd in comments and in sentences."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

_WRITE = "dd if=/dev/zero of=/tank/f bs=1M count=1000"


def _audited(text: str) -> list[Audited]:
    return list(audit_text("post", text, Context()))


def _rates(text: str) -> list[tuple[str, float]]:
    return [
        (direction, figures.bandwidth_bytes or 0.0)
        for each in _audited(text)
        for direction, figures in each.figures.directions.items()
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"{_WRITE}   # 3.2 GB/s",
        f"{_WRITE}  => about 3.2 GB/s",
        f"`{_WRITE}` gives me 3.2GB/s.",
        f"{_WRITE}\n-> 3.2 GB/s",
        f"```\n{_WRITE}\n```\nResult: 3.2 GB/s",
        f"I ran {_WRITE}.\nThen I looked at it.\nSo dd gives 3.2 GB/s here.",
        f"On the guest I ran `{_WRITE}` and got about 3.2 GB/s.",
        f"With `{_WRITE}`\nI'm getting 3.2 GB/s, which no disk here can do.",
        f"With `{_WRITE}`\nI only see 3.2 GB/s (that's why I don't use direct I/O).",
    ],
)
def test_a_rate_near_a_command_is_its_result(text: str) -> None:
    (found,) = _audited(text)

    assert found.figures.directions["write"].bandwidth_bytes == 3.2e9
    assert (found.verdict, found.command) == ("suspect", _WRITE)
    assert found.findings[0].rule == "write-without-sync"


@pytest.mark.parametrize(
    "text",
    [
        f"{_WRITE}   # should be 3.2 GB/s",
        f"{_WRITE}   # up to 3.2 GB/s",
        f"{_WRITE}   # 1.1 to 3.2 GB/s",
        f"{_WRITE}\n\nThe drive is rated for 3.2 GB/s.",
        f"{_WRITE}\n\nThe network does 3.2 GB/s.",
        "The add gives 3.2 GB/s.",
        f"With `{_WRITE}`\nI'm getting less than 3.2 GB/s.",
        f"With `{_WRITE}`\nI get to the same point as everyone else. The drive is rated for 3.2 GB/s.",
        "Would dd show 3.2 GB/s?",
    ],
)
def test_limits_and_other_rates_are_not_results(text: str) -> None:
    assert _rates(text) == []


def test_a_sentence_may_have_a_rate_for_each_direction() -> None:
    text = "With dd I get 2.9GB/s write and 7.1GB/s read."

    assert _rates(text) == [("write", 2.9e9), ("read", 7.1e9)]
    assert [each.verdict for each in _audited(text)] == ["unproven", "unproven"]
    assert _rates("With dd I get 2.9GB/s and 7.1GB/s.") == []


def test_the_command_shows_whether_the_data_was_synced_or_is_cached() -> None:
    read = "dd if=/tank/f of=/dev/null bs=1M   # 5.1 GB/s"

    assert [each.verdict for each in _audited(f"{_WRITE} conv=fdatasync # 210 MB/s")] == ["unproven"]
    assert [each.verdict for each in _audited(f"{_WRITE} conv=fdatasync # 210 MB/s\n{read}")] == ["unproven", "suspect"]
    assert [each.verdict for each in _audited(read)] == ["unproven"]


@pytest.mark.parametrize(
    "text",
    [
        f"I get 3.2 GB/s with `{_WRITE}`.",
        f"It is slow. Sequential write: 3.2 GB/s ({_WRITE})",
        f"Write performance is 3.2 GB/sek\n ( {_WRITE} )",
        f"| `{_WRITE}` | 3.2 GB/s |",
        f"{_WRITE}\n\nOnly 3.2 GB/s.",
    ],
)
def test_a_rate_may_be_before_its_command_or_in_the_next_cell(text: str) -> None:
    (found,) = _audited(text)

    assert found.figures.directions["write"].bandwidth_bytes == 3.2e9
    assert (found.verdict, found.command) == ("suspect", _WRITE)


@pytest.mark.parametrize(
    "text",
    [
        f"The link does 3.2 GB/s, so I tried `{_WRITE}`.",
        f"The drive is rated for 3.2 GB/s. With `{_WRITE}`",
        f"I expected 3.2 GB/s with `{_WRITE}`",
        f"| `{_WRITE}` | 3.2 GB/s | 1.1 GB/s |",
        f"Read 2.9 GB/s is what others see\n( {_WRITE} )",
    ],
)
def test_a_rate_before_a_command_may_be_about_something_else(text: str) -> None:
    assert _rates(text) == []


def test_a_sentence_without_a_verb_has_the_direction_before_its_rate() -> None:
    assert _rates("dd write is 2.9 GB/s") == [("write", 2.9e9)]
    assert _rates("dd: 2.9 GB/s read") == [("read", 2.9e9)]


def test_zeros_that_dd_reads_are_not_written_to_a_disk() -> None:
    (found,) = _audited("dd if=/dev/zero of=/dev/null bs=1M   # 9.1 GB/s")

    assert [each.rule for each in found.findings] == ["measures-memory"]
