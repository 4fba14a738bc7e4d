"""Lists of arguments in a program, such as `subprocess.run(["fio", "--rw=read"])` or `spawn("fio", "--rw=read")`.

A list consists of strings with commas between them, or of the arguments of calls in a row (`.arg("--rw=read")` of
Rust). Python's f-strings, `"--size=" + size` and variables between the strings become unknown values (`${size}`). The
variable that contains the list also becomes an unknown value if the program adds items to it elsewhere
(`cmd.append("--direct=1")`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.foreign.lint.documents.yaml_lists import YamlItem
from poolproof.foreign.lint.programs.code_strings import BLANKS, STRING, VALUE, WINDOW, added_to, text_of, unknown

_COMMENT = re.compile(r"(?:(?<=\s)#|//)[^\n]*")
_STRING_OR_COMMENT = re.compile(rf"(?P<comment>{_COMMENT.pattern})|{STRING.pattern}")  # a comment may contain quotes
_OPENING = rf"{BLANKS}&?[\w.:!@]{{0,40}}[\[({{&]{{0,4}}{BLANKS}"
_CONVERTED = r"(?:\.(?:into|to_string|to_owned|as_str)\(\))?"  # of Rust
_SEVERAL = r"\([^()\n]{1,80}\)"  # "%s/%s" % (folder, name)
_COMMA = re.compile(
    rf"{_CONVERTED}{BLANKS}(?:(?:\+\+?|[.%]){BLANKS}(?P<added>{VALUE}|{_SEVERAL}){BLANKS})?,"
    rf"(?P<others>(?:{BLANKS}{VALUE}{BLANKS}\)?{BLANKS},){{0,20}}){_OPENING}"
)
_NEXT_CALL = re.compile(
    rf"{BLANKS}(?:\+{BLANKS}(?P<added>{VALUE}){BLANKS})?(?:,{BLANKS}{VALUE}{BLANKS}){{0,8}},?{BLANKS}[\])}}]{{0,3}}"
    rf"{BLANKS}\)(?P<others>(?:{BLANKS}\.args?\({BLANKS}{VALUE}{BLANKS}\)){{0,8}}){BLANKS}\.args?\({_OPENING}"
)
_ADDED_LAST = re.compile(rf"{BLANKS}(?:\+\+?|[.%]){BLANKS}(?P<added>{VALUE}|{_SEVERAL})(?={BLANKS},?{BLANKS}[\])}}])")
_OTHER_CALL = re.compile(rf"\.args?\({BLANKS}({VALUE}){BLANKS}\)")
_ENDS_CALL = re.compile(r"^[^(]*\)$")  # the argument of a function such as Sprintf
_LONGEST_GAP = 400

_BEFORE = re.compile(rf"[\[({{,+=]\s*(?P<value>{VALUE})\s*(?:,|\+)\s*[\[({{]?\s*$")  # [*base, "--rw=read"]
_AFTER = re.compile(
    rf"{BLANKS},{BLANKS}(?P<listed>{VALUE}){BLANKS},?{BLANKS}[\])}}]"
    rf"|{BLANKS},?{BLANKS}[\])}}]{BLANKS}(?:\+{BLANKS}(?P<sum>{VALUE})|,{BLANKS}(?P<spread>\w{{1,60}}\.\.\.))"
)
_NAMED = re.compile(
    rf"(?<![\w.])(?P<name>[A-Za-z_]\w{{0,40}})\s*(?:(?::[^=\n]{{1,40}})?[:+]?=\s*(?:\[\]|new\s)?|\.\w{{1,20}}\(){_OPENING}$"
)
_EXTENDED = (
    r"(?<![\w.]){name}\s*(?:\.(?:append|extend|push|push_back|insert|add|addAll|concat|args?)\s*\(|\+="
    r"|:?=\s*append\(\s*{name}\b|=\s*{name}\s*\+|=\s*\[\s*(?:\*|\.\.\.){name}\b)"
)
_FUNCTION = re.compile(r"^[ \t]*(?:(?:pub|async|export|static|private|public)\s+)*(?:def|func|fn|function|sub)\s", re.M)
_TIMEOUT = r"(?:\s*,?\s*[\])}])?\s*,[^()]{0,300}?\btimeout\s*=\s*(?P<seconds>\d+(?:\.\d+)?)\b"
_FORMATTED = re.compile(r"(?:format|printf)!?\(\s*[\"'][^\"'\n]*[\"']$", re.IGNORECASE)  # its arguments are not items
_LOOKBACK = 160
_ADDED_WITHIN = re.compile(rf"{BLANKS}\+{BLANKS}(?:(?P<value>{VALUE}){BLANKS}\+{BLANKS})?")
_IMPLICIT = re.compile(r"\s{1,200}+")
_ENDS = re.compile(rf"{_CONVERTED}{BLANKS},?{BLANKS}(?:[\])}};]|$)")
_GOES_ON = re.compile(rf"{BLANKS}[\])}}]{{0,4}}{BLANKS}(?:\.args?\(|(?<=[\])}}\s])\+(?!\+))")
_BRACES = re.compile(r"\{\d{0,2}\}")
_ENDS_LIST = frozenset({"NULL", "nullptr", "null", "nil", "None"})  # the last argument of execl()


@dataclass(frozen=True)
class CodeList:
    """The items of a list. `ends_after`: the time in seconds after which the program ends the call, or empty."""

    items: tuple[YamlItem, ...]
    ends_after: str = ""


def code_lists_in(text: str) -> Iterator[CodeList]:
    """Yield each list of at least two strings."""
    items: list[YamlItem] = []
    start = end = counted = 0
    line = 1
    for found in _STRING_OR_COMMENT.finditer(text):
        if found["comment"]:
            continue
        gap = _COMMENT.sub("", text[end : found.start()]) if found.start() - end <= _LONGEST_GAP else ""
        between = (_COMMA.fullmatch(gap) or _NEXT_CALL.fullmatch(gap)) if items and gap else None
        is_short = bool(items) and len(items[-1].text) < _LONGEST_GAP
        added = _ADDED_WITHIN.fullmatch(gap) if is_short else None  # "--filename=" + path + "/file"
        is_joined = added is not None or (is_short and _IMPLICIT.fullmatch(gap) is not None)
        if items and between is None and not is_joined:
            if len(items) > 1:
                yield _completed(text, items, start, end)
            items = []
        line, counted = line + text.count("\n", counted, found.start()), found.start()
        if is_joined:  # Python joins strings with nothing between them
            value = unknown(added["value"]) if added and added["value"] else ""
            items[-1] = YamlItem(items[-1].text + value + text_of(found), items[-1].line)
            end = found.end()
            continue
        if between is not None:
            if value := between["added"]:
                items[-1] = YamlItem(_with_value(items[-1].text, value), items[-1].line)
            items += (YamlItem(unknown(each), line) for each in _others(between["others"]))
        start = start if items else found.start()
        items.append(YamlItem(text_of(found), line))
        end = found.end()
    if len(items) > 1:
        yield _completed(text, items, start, end)


def _others(text: str) -> Iterator[str]:
    """Yield the values between two strings: those after commas, or the arguments of `.arg(value)`."""
    if ".arg" in text:
        yield from _OTHER_CALL.findall(text)
    else:
        yield from (each.strip() for each in text.split(",") if each.strip() and not _ENDS_CALL.search(each.strip()))


def _with_value(item: str, value: str) -> str:
    """Return an item with a value that the program puts into it (`%`, `.format`) or adds to its end (`+`)."""
    is_formatted = "${value}" in item or value.startswith(("format(", "("))
    if not is_formatted:
        return f"{item}{unknown(value)}"
    form = _BRACES.sub("${value}", item) if value.startswith("format(") else item
    is_one = form.count("${value}") == 1 and not value.startswith("(")
    name = value.removeprefix("format(").removesuffix(")")
    return form.replace("${value}", unknown(name)) if is_one else form


def _completed(text: str, items: list[YamlItem], start: int, end: int) -> CodeList:
    """Return the list, with an unknown item for each value that the program adds to it, at either end or elsewhere."""
    first, last = items[0], items[-1]
    before = text[max(0, start - _LOOKBACK) : start]
    found = list(items)
    if first.text.startswith("-") and (added := _BEFORE.search(before)):
        found.insert(0, YamlItem(unknown(added["value"]), first.line))
    behind = _COMMENT.sub(lambda comment: " " * len(comment[0]), text[end : end + _LONGEST_GAP])
    if rest := _ADDED_LAST.match(behind):
        found[-1] = YamlItem(_with_value(last.text, rest["added"]), last.line)
    is_formatted = _FORMATTED.search(text, max(0, end - _LOOKBACK), end) is not None
    after = None if is_formatted else _AFTER.match(behind, rest.end() if rest else 0)
    value = after and (after["listed"] or after["sum"] or after["spread"])
    if value and value not in _ENDS_LIST:
        found.append(YamlItem(unknown(value), last.line))
    is_whole = after is not None or rest is not None or is_formatted or _ENDS.match(behind) is not None
    if _is_call(items) and (not is_whole or _GOES_ON.match(behind)):
        found.append(YamlItem(unknown("more"), last.line))  # an expression that lint cannot read
    name = _NAMED.search(before)
    ends_after = re.match(_TIMEOUT, text[end : end + _LONGEST_GAP])
    if name is not None:
        function = _function_around(text, start, end)
        opened = start - len(before) + name.start() - function.start
        extends = re.finditer(_EXTENDED.format(name=name["name"]), function.text)
        if any(not opened <= each.start() < end - function.start for each in extends):
            found.append(YamlItem(unknown(added_to(name["name"])), last.line))
        call = rf"\(\s*{name['name']}{_TIMEOUT}"
        ends_after = ends_after or re.search(call, function.text[end - function.start :])
    return CodeList(tuple(found), ends_after["seconds"] if ends_after else "")


def _is_call(items: list[YamlItem]) -> bool:
    return any(item.text.startswith("--") for item in items)


@dataclass(frozen=True)
class _Function:
    start: int
    text: str


def _function_around(text: str, start: int, end: int) -> _Function:
    """Return the function of the program that contains these positions, or the text between two functions."""
    first = max(0, start - WINDOW)
    begin = max((each.start() for each in _FUNCTION.finditer(text, first, start)), default=first)
    following = _FUNCTION.search(text, end, end + WINDOW)
    return _Function(begin, text[begin : following.start() if following else end + WINDOW])
