"""Commands in Markdown."""

import pytest

from tests.unit.foreign.lint.making import fixed_text, rules, said

_COMMAND = "fio --name=a --rw=write --bs=1m --size=8g"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"Don't do this:\n\n```bash\n{_COMMAND}\n```\n\nIt's buffered.\n", 4),
        (f"1. We don't:\n\n    ```shell\n    sudo {_COMMAND}\n    ```\n\n2. It isn't.\n", 4),
        (f"Don't:\n\n    {_COMMAND}\n\nThat's all.\n", 3),
        (f"Isn't `{_COMMAND}` buffered? It's.\n", 1),
        (f'The "raw" disk isn\'t used:\n\n~~~\n$ {_COMMAND}\n~~~\n', 4),
        (f"```\nsh -c 'cd /mnt && {_COMMAND}'\n```\n", 2),
    ],
)
def test_apostrophes_of_the_prose_are_no_quotes(text: str, line: int) -> None:
    assert said(text, name="README.md") == [(line, "warning", "write-without-sync")]


def test_only_the_command_is_changed() -> None:
    text = f"Don't:\n\n```bash\n{_COMMAND}\n```\n\nIt's buffered.\n"
    assert fixed_text(text, name="README.md").text == text.replace("=8g", "=8g --end_fsync=1")


_QUOTED = "> We ran this:\n> fio --name=a --rw=write --bs=1m\n>   --size=8g{more}\n> and saw 5 GB/s\n"


def test_a_quoted_command_of_several_lines() -> None:
    assert said(_QUOTED.format(more=""), name="mail.txt") == [(2, "warning", "write-without-sync")]
    assert said(_QUOTED.format(more="\n> --end_fsync=1"), name="mail.txt") == []
    assert rules("> out.txt\nfio --name=a --rw=write --bs=1m --size=8g\n", name="b.sh") == {"write-without-sync"}


@pytest.mark.parametrize("more", ["--end_fsync=1", "  -direct=1 -ioengine=libaio", "--direct 1"])
def test_a_command_that_a_mail_program_wrapped(more: str) -> None:
    text = f"fio --name=a --rw=write --bs=1m --size=8g\n{more}\n"
    assert rules(text, name="mail.txt") == set()
    assert rules(text.replace("\n", "\n\n", 1), name="mail.txt") == {"write-without-sync"}
    assert rules(f"fio --name=a --rw=write --bs=1m --size=8g\n- {more}\n", name="mail.txt") == {"write-without-sync"}
