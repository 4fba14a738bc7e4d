"""Sentences that say that a result was measured on one SATA drive."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_READ = "  READ: bw={rate}MiB/s, {rate}MiB/s-{rate}MiB/s, io=20.0GiB, run=20001-20001msec\n"
_BELOW = "This was run on ext4 on a SATA SSD.\n"
_ABOVE = "I have run on my Crucial SATA SSD:\n"


def _is_suspect(text: str) -> list[bool]:
    return [
        any(finding.rule == "named-disk" and finding.effect == "suspects" for finding in each.findings)
        for each in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize(
    ("above", "rate", "below", "is_suspect"),
    [
        ("", 1020, _BELOW, True),
        ("", 560, _BELOW, False),
        (_ABOVE, 1020, "", True),
        (_ABOVE + "\nThen on another machine:\n" + "\n" * 12, 1020, "", False),
        ("", 1020, _BELOW.replace("a SATA SSD", "SATA SSDs"), False),
        ("", 1020, _BELOW.replace("a SATA SSD", "an NVMe drive"), False),
        ("", 1020, _BELOW.replace("was run", "was not run"), False),
        ("", 1020, "The machine boots from a SATA SSD.\n", False),
    ],
)
def test_a_rate_above_a_sata_link_is_suspect_if_the_text_says_that_it_was_run_on_one_such_drive(
    above: str, rate: int, below: str, *, is_suspect: bool
) -> None:
    assert _is_suspect(above + _READ.format(rate=rate) + below) == [is_suspect]


def test_a_sentence_about_the_result_above_does_not_apply_to_the_next_one() -> None:
    text = f"{_READ.format(rate=1020)}{_BELOW}\nAnd on the other machine:\n{_READ.format(rate=3020)}"

    assert _is_suspect(text) == [True, False]
