"""dd's command and last line in the forms in which mail programs and Android print them."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_OUTPUT = "64+0 records in\n64+0 records out\n67108864 bytes (67 MB, 64 MiB) copied, 2.1 s, 32.0 MB/s\n"


@pytest.mark.parametrize(
    ("below", "command", "verdict"),
    [
        ("oflag=dsync && sync\n", "dd if=/dev/urandom of=/data/x bs=1M count=64 oflag=dsync", "unproven"),
        ("  conv=fdatasync status=none\n", "dd if=/dev/urandom of=/data/x bs=1M count=64 conv=fdatasync", "unproven"),
        ("off=dsync\n", "dd if=/dev/urandom of=/data/x bs=1M count=64", "suspect"),
        ("", "dd if=/dev/urandom of=/data/x bs=1M count=64", "suspect"),
    ],
    ids=["oflag", "conv", "no argument of dd", "not broken"],
)
@pytest.mark.parametrize("quote", ["", "> ", "> > "])
def test_a_command_is_broken_between_two_arguments(quote: str, below: str, command: str, verdict: str) -> None:
    text = f"$ dd if=/dev/urandom of=/data/x bs=1M count=64\n{below}{_OUTPUT}"

    (found,) = audit_text("post", "".join(f"{quote}{line}\n" for line in text.splitlines()), Context())

    assert found.command is not None and found.command.removesuffix(" status=none") == command
    assert found.verdict == verdict


def test_arguments_after_an_ended_command_are_not_joined() -> None:
    text = f"$ dd if=/dev/urandom of=/data/x bs=1M count=64; date\nconv=fsync is missing above\n{_OUTPUT}"

    (found,) = audit_text("post", text, Context())

    assert found.command == "dd if=/dev/urandom of=/data/x bs=1M count=64"


@pytest.mark.parametrize("rate", ["31 M/s", "31 MB/s"])
def test_the_dd_of_android_prints_units_without_b(rate: str) -> None:
    records = "1000+0 records in\n1000+0 records out\n"
    text = f"# dd if=/storage/a.img of=/dev/null\n{records}512000 bytes (500 K) copied, 0.016 s, {rate}\n"

    (found,) = audit_text("post", text, Context())

    assert found.figures.directions["read"].bandwidth_bytes == pytest.approx(32e6)
