"""Find the values of variables in a shell script: variables that always get the same value, arrays, and loop variables.

For example, `for bs in 4k 64k 1m` runs fio with each of these values, and `for jobs in {1..4}` or `$(seq 1 4)` with
each number.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile

from poolproof.foreign.lint.documents.template_variables import template_variables
from poolproof.foreign.lint.shell.shell_words import Script, ShellWord, read_script
from poolproof.foreign.lint.shell.variable_keys import key_without_default
from poolproof.load.fio.commandline import takes_next

_SET_ARRAY = re.compile(r"(?:^|[\s;])(?P<name>[A-Za-z_]\w*)(?P<more>\+?)=\((?P<values>[^()`*?]*)\)", re.MULTILINE)
_OPTION_VALUE = re.compile(r"--?[A-Za-z][\w-]*=[^\s`]+")
_FILE_IN_FOLDER = re.compile(r"\$\{?[A-Za-z_]\w{0,40}\}?(?:/[\w.-]{1,80}){1,9}")
_FILE_BELOW_ARGUMENT = re.compile(r"\$\{?[1-9]\}?(?:/[\w.-]{1,80}){1,9}")
_COMMENT = re.compile(r"(?:^|\s)#.*", re.MULTILINE)
_ASSIGNMENT = re.compile(r"^(?P<name>[A-Za-z_]\w*)(?P<more>\+?)=(?P<value>.*)$", re.DOTALL)
_ASSIGNS = ("=", ":=", "?=", "::=")  # in make, Python and PowerShell
_NAME = re.compile(r"(?:\[\w+\])?\$?(?P<name>[A-Za-z_]\w*)")  # [string]$Size in PowerShell
_OPERATORS = frozenset({"*", "**", "+", "-", "/", "//", "%", "or", "and", "if", "else", "not", "in", "is"})
_ATTRIBUTE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_NOT_ONE = re.compile(r"[$`(\[{@,]")
_FUNCTION = re.compile(r"\w\s*\(\)|\bfunction\s")
_SHIFTS = re.compile(r"(?:^|[;&\s])shift\b")
_APPENDS = re.compile(r"(?<![\w$])([A-Za-z_]\w{0,40})=[\"']?\$\{?\1\b|(?<![\w$])([A-Za-z_]\w{0,40})\+=(?!\()")
_IS_PROGRAM = re.compile(r"^[ \t]*(?:def|import|from|class|func|package|use|fn)[ \t]", re.MULTILINE)
_NESTING = frozenset({"for", "while", "until", "if", "case", "select"})
_ENDS_NESTING = frozenset({"done", "fi", "esac"})
_OPENS = re.compile(r"(?:^|;)[ \t]*(?:for|while|until|if|case|select)\b", re.MULTILINE)
_CLOSES = re.compile(r"(?:^|[;\s])(?:done|fi|esac)\b", re.MULTILINE)
_CHANGES = re.compile(
    r"(?<![\w$])(?P<name>[A-Za-z_]\w{0,60})(?:\+?=\(|\[[^\]\n]{0,80}\]\+?=)"
    r"|\b(?:read|mapfile|readarray)\b(?P<read>[^\n;|&<]{0,200})"
)
_DEPENDS = re.compile(r"(?:&&|\|\|)(?:[^\n]{0,200}|[ \t]{0,9}\n[ \t]{0,40})\Z")
_HEADER = re.compile(r"^[ \t]*(?:function[ \t]+[\w-]+|[\w-]+[ \t]*\(\))", re.MULTILINE)
_LONGEST_LINE = 200
_DECLARING = ("export", "local", "readonly", "declare", "typeset", "set")  # set of cmd.exe
_SETTING = ("read", "for", "select", "mapfile", "getopts", "unset", "printf")
_WRAPS_FIO = re.compile(
    r"^[ \t]*(?:function[ \t]+fio\b|fio[ \t]*\(\))[^\n]*\n(?:.*\n){0,20}?.*(?:\bcommand[ \t]+|/)fio\b", re.MULTILINE
)
_MAX_PASSES = 3
_KEYWORDS = ("$", "do", "then", "else", "elif", "if", "while", "until", "{", "!", "time")
_MOST_VALUES = 32
_MOST_ALTERNATIVES = 4
_MOST_RUNS = 32
_MOST_SINGLE_RUNS = 64


RUNS_FIO = "fio()"
"""The key that marks a script with a function `fio`, which runs the program as `command fio` or by its path."""


def known_variables(text: str, arguments: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables whose value is known: arrays, and variables that always get the same literal value.

    The result also marks all variables that the script sets, and the arguments of functions. If the value of a marked
    variable is unknown, `${NAME:-default}` is not replaced with the default.

    `arguments`: the arguments of a call, if the text is the body of a function. By default, they are unknown.
    """
    known: dict[str, str] = {**(arguments or {})}
    values: dict[str, set[str | None]] = {}
    # After `shift`, `$2` is the value of an option, so its default in `${2:-4k}` says nothing.
    given = "123456789" if _SHIFTS.search(text) and arguments is None else ""
    options = dict.fromkeys(map(key_without_default, given), "")
    for _ in range(_MAX_PASSES):
        values = {}
        for name, value in _assigned(read_script(text, {**known, **options}), text):
            values.setdefault(name, set()).add(value)
        found = {name: value for name, (value, *more) in values.items() if value is not None and not more}
        found |= {**_built_up(text, known), **(arguments or {})}
        if found == known:
            break
        known = found
    without_default = [*values, *("123456789" if _FUNCTION.search(text) and arguments is None else "")]
    unset = dict.fromkeys(map(key_without_default, without_default), "")
    wrapper = {RUNS_FIO: ""} if _WRAPS_FIO.search(text) else {}
    return {**known, **unset, **_arrays_in(text, known), **template_variables(text), **wrapper}


def _built_up(text: str, known: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables to which the script adds words step by step (`ARGS="$ARGS --bs=4k"`, `ARGS+=" --bs=4k"`).

    A variable is left out if this happens in a loop or a branch, or if the script uses it before the last step.
    """
    names = {first or second for first, second in _APPENDS.findall(text)}
    if not names or _IS_PROGRAM.search(text):
        return {}
    parts: dict[str, list[str | None]] = {name: [] for name in names}
    at: dict[str, list[int]] = {name: [] for name in names}
    depth = 0
    script = read_script(text, {name: value for name, value in known.items() if name not in names})
    for command in sorted(script.commands, key=lambda each: each[0].start):
        first = command[0].text
        depth += sum(word.text in _NESTING for word in command[:2]) - (first in _ENDS_NESTING)
        words = [word.text for word in command if word.text not in _DECLARING]
        found = _ASSIGNMENT.match(words[0]) if len(words) == 1 else None
        if found is None or found["name"] not in names:
            continue
        name, value = found["name"], found["value"]
        own = re.match(rf"\$(?:{name}\b|\{{{name}\}})", value)
        if own is None and not found["more"]:
            parts[name] = [value] if not parts[name] else [None]
        else:
            parts[name].append(None if depth else value[own.end() if own else 0 :])
        at[name] += [command[0].start, command[-1].end]
    values: dict[str, str] = {}
    for name, each in parts.items():
        if len(each) > 1 and None not in each:
            value = "".join(map(str, each))
            used = re.findall(rf"\$\{{?{name}\b", text[at[name][0] : at[name][-1]])
            own_uses = len(re.findall(rf"(?<![\w$]){name}=[\"']?\$\{{?{name}\b", text))
            if len(used) == own_uses and _is_known(value.split()):
                values[name] = " ".join(value.split())
    return values


def alternative_options(script: Script, text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the values of each variable that gets one of a few strings of options, as in the branches of an `if`."""
    values: dict[str, dict[str | None, None]] = {}
    for name, value in _assigned(script, text):
        values.setdefault(name, {})[value] = None
    return {
        name: tuple(map(str, given))
        for name, given in values.items()
        if 1 < len(given) <= _MOST_ALTERNATIVES
        and all(value is not None and value.startswith("-") for value in given)
        and not _is_used_between(name, text)
    }


def _is_used_between(name: str, text: str) -> bool:
    """True if the script uses the variable between its assignments, so that its value depends on the place."""
    set_at = [found.end() for found in re.finditer(rf"(?<![\w$]){name}=", text)]
    return re.search(rf"\$\{{?{name}\b", text[set_at[0] : set_at[-1]]) is not None if set_at else True


def is_definition(words: Sequence[ShellWord]) -> bool:
    """True if the command sets a variable with blanks around the `=`, as in make, Python and PowerShell."""
    return len(words) > 2 and words[1].text in _ASSIGNS


def _assigned(script: Script, text: str) -> Iterator[tuple[str, str | None]]:
    """Yield (name, value) for each assignment in the script, with None for values that are not literal."""
    for command in script.commands:
        words = list(dropwhile(_KEYWORDS.__contains__, (word.text for word in command)))
        if words and words[0] in _SETTING:
            yield from ((word, None) for word in words[1:] if word.isidentifier())
            continue
        if len(words) > 2 and words[1] in _ASSIGNS and (named := _NAME.fullmatch(words[0])):
            is_computed = _is_computed(named["name"], command[-len(words) + 2 :], text)
            value = " ".join(words[2:]).removesuffix(",")  # a parameter of PowerShell
            yield named["name"], None if is_computed or _NOT_ONE.search(value) else value
            continue
        is_declaration = bool(words) and words[0] in _DECLARING
        for at, word in enumerate(words[is_declaration:], len(command) - len(words) + is_declaration):
            found = _ASSIGNMENT.match(word)
            is_quoted = not is_declaration and text[command[at].start : command[at].start + 1] in ("'", '"')
            if found is not None and not is_quoted:
                value = found["value"]
                is_last = text[command[at].end : command[at].end + 1] == ")"  # also an assignment in a subshell
                is_argument = value.endswith(",") or is_last  # of a function, as in `run(size="1g", …)`
                is_literal = not (found["more"] or "`" in value or value.startswith("(") or is_argument)
                if value.startswith("-") and all(each.startswith("-") for each in words[is_declaration:][1:]):
                    value = " ".join(
                        [value, *words[is_declaration:][1:]]
                    )  # the quotes are missing, as in documentation
                yield (
                    found["name"],
                    value if is_literal and (_is_known(value.split()) or _is_below_argument(value, text)) else None,
                )
            elif not is_declaration:
                break


def _is_below_argument(value: str, text: str) -> bool:
    """True for a file below the script's argument (`$1/file`). In a function, `$1` would be another argument."""
    return _FILE_BELOW_ARGUMENT.fullmatch(value) is not None and not _FUNCTION.search(text)


def _is_computed(name: str, value: Sequence[ShellWord], text: str) -> bool:
    """True if a program computes the value (`size = min(a, 10)`, `count = gib * 1024`, `rw = mode`).

    In make, a word without quotes is text. It is taken for a variable of a program if the text uses `name` only there.
    """
    if text[value[-1].end : value[-1].end + 1] == "(" or not _OPERATORS.isdisjoint(word.text for word in value[1:]):
        return True
    is_one_name = len(value) == 1 and value[0].verbatim is None and _ATTRIBUTE.fullmatch(value[0].text) is not None
    return is_one_name and not re.search(rf"\$[({{]?{name}\b|%{name}%", text)


def _arrays_in(text: str, variables: Mapping[str, str]) -> Mapping[str, str]:
    """Return the elements of each array whose elements are known, separated by spaces and keyed by `ARRAY[@]`.

    An array is left out if the script changes it in a loop or a branch or after its first use, if an element contains
    spaces, or if an unknown variable may be more than the value of an option.
    """
    found: dict[str, list[re.Match[str]]] = {}
    for each in _SET_ARRAY.finditer(text):
        found.setdefault(each["name"], []).append(each)
    changes = Counter(name for each in _CHANGES.finditer(text) for name in (each["name"] or each["read"]).split())
    arrays = {}
    for name, parts in found.items():
        if changes[name] != len(parts) or (len(parts) > 1 and not _is_built_up(name, parts, text)):
            continue
        last = max((at for at, each in enumerate(parts) if not each["more"]), default=0)
        words: list[str] = []
        for each in parts[last:]:
            elements = read_script(_COMMENT.sub("", each["values"]).replace("\n", " "), variables).commands
            words += [word.text for command in elements for word in command]
        if not parts[last]["more"] and _is_known(words):
            arrays[f"{name}[@]"] = " ".join(words)
    return arrays


def _is_built_up(name: str, parts: Sequence[re.Match[str]], text: str) -> bool:
    """True if all commands that change the array always run, in this order and before the script uses the array."""
    start, end = parts[0].start(), parts[-1].end()
    if len(parts) > _MOST_VALUES:
        return False
    depths = {len(_OPENS.findall(text, 0, at)) - len(_CLOSES.findall(text, 0, at)) for at in map(re.Match.start, parts)}
    return (
        not parts[0]["more"]
        and depths == {0}
        and not any(_DEPENDS.search(text[max(0, each.start() - _LONGEST_LINE) : each.start() + 1]) for each in parts)
        and not _HEADER.search(text, start, end)
        and not re.search(rf"\$\{{[#!]?{name}\b", text[start:end])
    )


def _is_known(words: Sequence[str]) -> bool:
    """True if unknown variables occur only in the values of options (`--size=$SIZE`), so that all options are known."""
    return all(
        word
        and not re.search(r"\s", word)
        and (
            "$" not in word
            or _FILE_IN_FOLDER.fullmatch(word)
            or ("$(" not in word and (_OPTION_VALUE.fullmatch(word) or takes_next(before)))
        )
        for before, word in zip(["", *words], words, strict=False)
    )


def runs_of(loops: Mapping[str, tuple[str, ...]]) -> Iterator[Mapping[str, str]]:
    """Yield all combinations of the loop variables' values, in loop order.

    If there are too many combinations, only one variable is varied at a time: from the first value of each, and from
    the last.
    """
    if math.prod(map(len, loops.values())) <= _MOST_RUNS:
        for combination in itertools.product(*loops.values()):
            yield dict(zip(loops, combination, strict=True))
        return
    single = sum(len(values) - 1 for values in loops.values()) + 1
    seen = []
    for at in (0, -1) if 2 * single <= _MOST_SINGLE_RUNS else (0,):
        base = {name: values[at] for name, values in loops.items()}
        varied = ({**base, name: value} for name, values in loops.items() for value in values if value != values[at])
        for run in (base, *varied):
            if run not in seen:
                seen.append(run)
                yield run
