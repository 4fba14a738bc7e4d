"""Options in a dict of a program, which adds `--{key}={value}` for each of them to the command or to a job file."""

import re
from collections.abc import Iterator, Sequence

from poolproof.foreign.lint.documents.yaml_lists import YamlItem
from poolproof.foreign.lint.programs.code_strings import WINDOW, added_to, unknown
from poolproof.load.fio.option_names import ALL_NAMES, canonical

_TABLE = re.compile(
    r"(?:(?<![\w.])(?P<name>[A-Za-z_]\w{0,40})\s{0,9}(?::[^=\n]{1,60})?:?=\s{0,9}(?:new\s)?(?:map\[string\]\w{1,20})?)?"
    r"\{(?P<items>\s{0,99}[\"'`]?\w{1,40}[\"'`]?\s{0,9}:[^{}]{1,4000})\}"
)
_ITEM = re.compile(
    r"(?:^|,)\s{0,99}(?:#[^\n]*\s{1,99}|//[^\n]*\s{1,99}){0,4}(?P<quote>[\"'`])(?P<key>[a-z_]\w{0,40})(?P=quote)\s{0,9}:\s{0,9}"
    r"(?:[fFrRbBuU]?\"(?P<double>[^\"\n]*)\"|[fFrRbBuU]?'(?P<single>[^'\n]*)'|(?P<number>\d[\w.]{0,20})(?=\s*(?:,|#|//|$))|(?P<other>[^,\n]{1,80}))"
)
_FORMAT = re.compile(
    r"(?:--)?(?:%s|%v|\{\w{0,20}\}|\$\{\w{1,20}\})=(?:%s|%v|\{[\w.\[\]]{0,30}\}|\$\{[\w.\[\]]{1,30}\})"
    r"|[\"'`]--(?:%s|\{\w{0,20}\}|[\"']\s*\+)"
)
_SPREAD = re.compile(r"(?:\*\*|\.\.\.)(\w{1,40})")
_CHANGED = r"(?<![\w.]){name}\s*(?:\[[^\]\n]*\]\s*=(?!=)|\.(?:update|pop|set|setdefault)\(|\|=)|(?:\*\*|\.\.\.){name}\b"
_CONSTANTS = {"True": "1", "true": "1", "False": "0", "false": "0"}
_NOTHING = ("None", "null", "nil", "undefined")
_FEWEST = 3
_LEAST_SHARE = 0.8


def option_tables_in(text: str) -> Iterator[tuple[YamlItem, ...]]:
    """Yield the arguments of fio that each dict of options stands for.

    They include an unknown argument if the program changes the dict or puts it into another one.
    """
    if "fio" not in text or not _FORMAT.search(text):
        return
    line = counted = 0
    for table in _TABLE.finditer(text):
        items = list(_ITEM.finditer(table["items"]))
        names = [canonical(item["key"]) for item in items]
        known = [name for name in names if name in ALL_NAMES]
        if "rw" not in names or len(known) < max(_FEWEST, _LEAST_SHARE * len(items)):
            continue
        line, counted = line + text.count("\n", counted, table.start("items")), table.start("items")
        words = [
            YamlItem(f"--{name}={value}", line + 1 + table["items"].count("\n", 0, item.start("key")))
            for name, item in zip(names, items, strict=True)
            if name in ALL_NAMES and (value := _value(item, name)) is not None
        ]
        if "name" not in names:
            words.insert(0, YamlItem("--name=job", words[0].line))
        words += (YamlItem(unknown(each), words[-1].line) for each in _additions(table, text))
        yield tuple(words)


def _value(item: re.Match[str], name: str) -> str | None:
    """Return the value of an option. Values that the program computes become unknown. None if there is no value."""
    for group in ("double", "single", "number"):
        if item[group] is not None:
            return str(item[group])
    other = item["other"].strip()
    return None if other in _NOTHING else _CONSTANTS.get(other, unknown(name))


def _additions(table: re.Match[str], text: str) -> Sequence[str]:
    """Return names for what the program adds to the options, in this dict or elsewhere."""
    spread = _SPREAD.findall(table["items"])
    name = table["name"]
    if name is not None:
        after = text[table.end() : table.end() + WINDOW]
        spread += [added_to(name)] if re.search(_CHANGED.format(name=name), after) else []
    return spread
