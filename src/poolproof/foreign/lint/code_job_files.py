"""Job files in the strings of a program, which writes them to a file and passes this file to fio.

Values that the program puts into them, such as `{size}`, stay as written, so they are unknown.
"""

import re
from collections.abc import Iterator

from poolproof.foreign.lint.jobfiles import has_fio_options
from poolproof.foreign.lint.yaml_lists import YamlItem

_LONGEST = 8000
_STRING = re.compile(
    rf"@[\"']\r?\n(?P<powershell>.{{0,{_LONGEST}}}?)\n[\"']@"
    rf"|r?#?(?P<quotes>\"\"\"|''')(?:\\\n)?(?P<python>.{{0,{_LONGEST}}}?)(?P=quotes)"
    rf"|r#\"(?P<rust>.{{0,{_LONGEST}}}?)\"#"
    rf"|(?<!`)`(?P<other>[^`]{{1,{_LONGEST}}})`(?!`)",
    re.DOTALL,
)


def job_files_in(text: str) -> Iterator[YamlItem]:
    line = counted = 0
    for found in _STRING.finditer(text):
        kind = next(each for each in ("powershell", "python", "rust", "other") if found[each] is not None)
        line, counted = line + text.count("\n", counted, found.start(kind)), found.start(kind)
        if has_fio_options(found[kind]):
            yield YamlItem(found[kind], line + 1)
