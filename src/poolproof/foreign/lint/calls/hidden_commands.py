"""Commands in a text in which lint finds no fio call: after the prompt of root, or in a variable.

A prompt is indented, as in documentation, or followed by fio's output. In other texts, `# fio …` is a comment, and a
variable that contains a command is used by a call that lint finds.
"""

import re
from collections.abc import Iterator

from poolproof.foreign.lint.documents.yaml_lists import YamlItem
from poolproof.foreign.lint.programs.code_strings import STRING, text_of

_PROMPT = re.compile(
    r"^((?:[ ]{2,}|\t)?)#(?=[ \t]+(?:sudo[ \t]+)?fio[ \t]+--?[a-z])"
    r"(?:(?<=[ \t]#)|(?=[^\n]*\n[^\n]{1,80}: \(g=0\): rw=))",
    re.MULTILINE,
)
_VARIABLE = re.compile(
    r"^(?P<before>[ \t]*(?:export[ \t]+)?[A-Za-z_]\w*=(?P<quote>[\"']))"
    r"(?P<command>fio[ \t](?:[^\"'\\]|\\(?:.|\n))*)(?P=quote)",
    re.MULTILINE,
)
_OPTIONS = (re.compile(r"(?<!\S)--?name[= ]"), re.compile(r"(?<!\S)--?(?:rw|readwrite)[= ]"))


def with_hidden_commands(text: str) -> str:
    """Return the text with spaces instead of the prompts, and of the quotes and names around commands in variables.

    The positions of the commands do not change. Comments of a script that begins with `#!` stay comments.
    """
    text = text if text.startswith("#!") else _PROMPT.sub(r"\1 ", text)
    return _VARIABLE.sub(lambda found: f"{' ' * len(found['before'])}{found['command']} ", text)


def option_strings(text: str) -> Iterator[YamlItem]:
    """Yield the strings of a program that consist of fio's options, including `name` and `rw`."""
    for found in STRING.finditer(text):
        options = text_of(found)
        if options.startswith("-") and all(form.search(options) for form in _OPTIONS):
            yield YamlItem(options, text.count("\n", 0, found.start()) + 1)
