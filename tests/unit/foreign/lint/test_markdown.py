"""Commands in Markdown."""

import pytest

from tests.unit.foreign.lint.making import fixed_text, said

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
