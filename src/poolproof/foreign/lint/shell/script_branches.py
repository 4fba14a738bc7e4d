"""The branches of a shell script: which of them cannot run, and which exclude each other.

A branch cannot run if its condition compares literal values (`if [ "$RW" = write ]` after `RW=read`). If a condition
is unknown, lint checks the script once for each branch that sets a variable of a fio command or calls fio.
"""

import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from poolproof.foreign.lint.shell.shell_words import ShellWord, read_script

_HAS_BRANCHES = re.compile(r"(?:^|[\s;])(?:fi|esac)\b|&&|\|\|", re.MULTILINE)
_BEFORE = frozenset({"then", "else", "do", "{", "!", "time"})
_NOT_LITERAL = re.compile(r"[$`]")
_SET = r"(?:^|[\s;])(?:(?:export|local|readonly)[ \t]+)?(?P<name>[A-Za-z_]\w*)\+?="
_ASSIGNED = re.compile(_SET, re.MULTILINE)
_DEFAULT = re.compile(rf"{_SET}[\"']?\$\{{[^}}\n]*:?[-=]", re.MULTILINE)
_WHOLE = r"(?m)^[ \t]*(?:export[ \t]+|local[ \t]+)?{name}=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s;\"'`(]*)(?=[ \t]*(?:#.*)?$)"
_EXIT = re.compile(r"^[ \t]*exit\b", re.MULTILINE)
_OPENING = frozenset({"if", "case", "{"})
_CLOSING = frozenset({"fi", "esac", "}"})
_ENDS = re.compile(r"(?:^|[\s;])(?:exit|return|die|usage)\b")
_FIO = re.compile(r"(?<![\w./-])fio[ \t]+[-$\"]")
_PART = re.compile(r"(?P<patterns>[^()\n]{1,80}+)\)(?P<body>(?:(?!;;).)*)(?:;;&?|\Z)", re.DOTALL)
_NESTED = re.compile(r"\bcase\b[^\n]*\bin\b")
_NAMED = re.compile(r"\$\{?([A-Za-z_]\w*)(?::-[^{}]*)?\}?")
_PATTERN = re.compile(r"[*?\[\]$`]")
_ALWAYS = {"true": True, ":": True, "false": False}
_COMPARES: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-gt": operator.gt,
    "-ge": operator.ge,
    "-lt": operator.lt,
    "-le": operator.le,
}
_MOST_PASSES = 4
_MOST_BRANCHES = 6
_LONGEST = 60_000


@dataclass(frozen=True)
class Branch:
    """The text of a branch, from character `start` to character `end`. `runs`: None if lint does not know that.

    `given`: the variable and the value to which the condition of the branch compares it (`[ "$RW" = write ]`).
    """

    start: int
    end: int
    runs: bool | None = None
    given: tuple[str, str] | None = None


@dataclass(frozen=True)
class Conditional:
    """The branches of an `if` or `case`, of which at most one runs.

    `start`, `end`: its first character, and the one after its last. `condition`: the text that decides which one runs.
    `is_complete`: True if one of them always runs.
    `ending`: the branches that end the script. `names`: the variables that the branches set and the script uses later.
    """

    branches: tuple[Branch, ...]
    start: int
    end: int
    condition: str = ""
    is_complete: bool = False
    ending: tuple[Branch, ...] = ()
    names: tuple[str, ...] = ()


def without_dead_branches(text: str, variables: Mapping[str, str]) -> str:
    """Replace the branches that cannot run with spaces. The positions of the rest do not change."""
    if len(text) > _LONGEST or not _HAS_BRANCHES.search(text):
        return text
    uncertain = {found["name"] for found in _DEFAULT.finditer(text)}
    for branch in (branch for found in _conditionals(text, {}) for branch in found.branches):
        uncertain |= set(_names_set(text, branch))
    literal = {name: value for name, value in variables.items() if name not in uncertain}
    for _ in range(_MOST_PASSES):
        before = text
        for found in _conditionals(text, literal):
            for branch in found.branches:
                text = _without(text, branch) if branch.runs is False else text
            if any(branch.runs for branch in found.branches):
                text = _unwrapped(text, found, next(branch for branch in found.branches if branch.runs))
        if text == before:
            break
    return text


def without_dead_end(text: str) -> str:
    """Replace what follows an `exit` outside of branches, functions and subshells with spaces, if the text is a script.

    The positions of the rest do not change.
    """
    if not text.startswith("#!") or len(text) > _LONGEST or not _EXIT.search(text):
        return text
    depth = 0
    before = None
    for command in sorted(read_script(text, {}).commands, key=lambda each: each[0].start):
        words = [word.text for word in command]
        between = text[before.end : command[0].start] if before else ""
        is_certain = depth == 0 and "(" not in between and between.strip() not in ("&&", "||", "|")
        if words[0] == "exit" and is_certain and _EXIT.match(text, text.rfind("\n", 0, command[0].start) + 1):
            return _without(text, Branch(command[-1].end, len(text)))
        depth += sum(word in _OPENING for word in words[:3]) - sum(word in _CLOSING for word in words[:1])
        before = command[-1]
    return text


def exclusive_branches(text: str) -> Iterator[Conditional]:
    """Yield each conditional whose branches may change a fio command.

    The branches set a variable that the script uses after them, or at least two of them call fio. If it is possible
    that none of the branches runs, the last one is empty.
    """
    if len(text) > _LONGEST or not _HAS_BRANCHES.search(text):
        return
    for found in _conditionals(text, {}):
        names = tuple(dict.fromkeys(name for branch in found.branches for name in _names_set(text, branch)))
        used = tuple(name for name in names if re.search(rf"\$\{{?{name}\b", text[found.branches[-1].end :]))
        calls = [_FIO.search(text, each.start, each.end) is not None for each in found.branches]
        ending = [
            branch
            for branch, has_fio in zip(found.branches, calls, strict=True)
            if not has_fio and _ENDS.search(text, branch.start, branch.end)
        ]
        alive = [branch for branch in found.branches if text[branch.start : branch.end].strip()]
        kept = [branch for branch in alive if branch not in ending]
        if (used or sum(calls) > 1) and found.condition and len(kept) <= _MOST_BRANCHES:
            none = () if found.is_complete else (Branch(0, 0),)
            if kept or none:
                yield replace(found, branches=(*kept, *none), ending=tuple(ending), names=used)


def only_branch(text: str, found: Conditional, kept: int) -> str:
    """Replace all branches of the conditional except one with spaces, and the values that this one overrides."""
    chosen = found.branches[kept]
    for branch in (*found.branches[:kept], *found.branches[kept + 1 :], *found.ending):
        text = _without(text, branch)
    text = _unwrapped(text, found, chosen)
    for name in set(_names_set(text, chosen)):
        if re.search(rf"\$\{{?{name}\b|(?<!\w){name}\+=", text[chosen.start : chosen.end]):
            continue
        earlier = list(re.finditer(_WHOLE.format(name=name), text[: found.start]))
        if earlier and not re.search(rf"\$\{{?{name}\b", text[earlier[0].end() : found.start]):
            for each in earlier:
                text = _without(text, Branch(each.start(), each.end()))
    return text


def _unwrapped(text: str, found: Conditional, branch: Branch) -> str:
    """Replace the condition and the keywords around the only branch that runs with spaces, unless they call fio."""
    if found.start == found.end or _FIO.search(found.condition):
        return text
    start, end = (branch.start, branch.end) if branch.end else (found.end, found.end)
    return _without(_without(text, Branch(found.start, start)), Branch(end, found.end))


def _names_set(text: str, branch: Branch) -> Iterator[str]:
    yield from (found["name"] for found in _ASSIGNED.finditer(text, max(0, branch.start - 1), branch.end))


def _without(text: str, branch: Branch) -> str:
    return text[: branch.start] + re.sub(r"[^\n]", " ", text[branch.start : branch.end]) + text[branch.end :]


def _conditionals(text: str, variables: Mapping[str, str]) -> Sequence[Conditional]:
    """Return the conditionals of the script, outer ones first.

    A command after `&&` or `||` is the only branch of a conditional without a `condition`.
    """
    commands = sorted(read_script(text, variables).commands, key=lambda command: command[0].start)
    found = [*_ifs(text, commands), *_cases(text, commands), *_lists(text, commands)]
    return sorted(found, key=lambda each: (each.branches[0].start, -each.branches[-1].end))


class _If:
    """An `if` whose `fi` has not been found yet."""

    def __init__(self, start: int, condition: Sequence[ShellWord]) -> None:
        self.start = start
        self.branches: list[Branch] = []
        self.conditions = [condition]  # the commands between `if` and `then`
        self.has_else = False

    def open(self, word: ShellWord) -> None:
        self.close(word.start)
        taken = [branch.runs for branch in self.branches]
        runs = _holds(self.conditions) if word.text == "then" else None
        if word.text == "else":
            self.has_else = True
            runs = True if all(each is False for each in taken) else None
        given = _given(self.conditions) if word.text == "then" else None
        self.branches.append(Branch(word.end, word.end, False if any(taken) else runs, given))
        self.conditions = []

    def close(self, end: int) -> None:
        """End the last branch here, unless it has ended before."""
        if self.branches and self.branches[-1].end == self.branches[-1].start:
            self.branches[-1] = replace(self.branches[-1], end=end)


def _ifs(text: str, commands: Sequence[Sequence[ShellWord]]) -> Iterator[Conditional]:
    opened: list[_If] = []
    for command in commands:
        words = list(command)
        while words and words[0].text in ("do", "{", "else", "then"):
            word = words.pop(0)
            if word.text in ("then", "else") and opened:
                opened[-1].open(word)
        if not words:
            continue
        if words[0].text == "if":
            opened.append(_If(words[0].start, words[1:]))
        elif words[0].text == "elif" and opened:
            opened[-1].close(words[0].start)
            opened[-1].conditions = [words[1:]]
        elif words[0].text == "fi" and opened:
            ended = opened.pop()
            ended.close(words[0].start)
            if ended.branches:
                starts = [ended.start, *(branch.end for branch in ended.branches)]
                between = (text[start : branch.start] for start, branch in zip(starts, ended.branches, strict=False))
                yield Conditional(tuple(ended.branches), ended.start, words[0].end, " ".join(between), ended.has_else)
        elif opened and opened[-1].conditions:
            opened[-1].conditions.append(words)


def _cases(text: str, commands: Sequence[Sequence[ShellWord]]) -> Iterator[Conditional]:
    """Yield each `case` that contains no other `case`."""
    opened: list[Sequence[ShellWord]] = []
    for command in commands:
        words = [word for word in command if word.text not in _BEFORE]
        if len(words) >= 3 and words[0].text == "case" and words[2].text == "in":
            opened.append(words)
        elif words and words[0].text == "esac" and opened:
            opening = opened.pop()
            start, inside = opening[2].end, text[opening[2].end : words[0].start]
            parts = [] if _NESTED.search(inside) else list(_PART.finditer(inside))
            patterns = [[each.strip(" \t\r\n\"'") for each in part["patterns"].split("|")] for part in parts]
            matches = [_matches(opening[1].text, each) for each in patterns]
            first = matches.index(True) if True in matches else None
            runs = [None if match is None else number == first for number, match in enumerate(matches)]
            name = _NAMED.fullmatch(opening[1].text)
            branches = [
                Branch(
                    start + part.start("body"),
                    start + part.end("body"),
                    run,
                    (name[1], each[0]) if name and len(each) == 1 and not _PATTERN.search(each[0]) else None,
                )
                for part, run, each in zip(parts, runs, patterns, strict=True)
            ]
            if branches:
                condition = text[opening[0].start : start]
                yield Conditional(tuple(branches), opening[0].start, words[0].end, condition, ["*"] in patterns)


def _matches(subject: str, patterns: Sequence[str]) -> bool | None:
    is_known = not any(map(_NOT_LITERAL.search, (subject, *patterns)))
    return any(fnmatchcase(subject, pattern) for pattern in patterns) if is_known else None


def _lists(text: str, commands: Sequence[Sequence[ShellWord]]) -> Iterator[Conditional]:
    """Yield the command after each `&&` or `||`."""
    for one, following in itertools.pairwise(commands):
        between = text[one[-1].end : following[0].start].strip()
        if between in ("&&", "||"):
            holds = _holds([one])
            runs = None if holds is None else holds is (between == "&&")
            yield Conditional((Branch(following[0].start, following[-1].end, runs),), one[0].start, one[0].start)


def _holds(commands: Sequence[Sequence[ShellWord]]) -> bool | None:
    """Return whether a condition holds, or None if that is unknown or if it consists of several commands."""
    if len(commands) != 1:
        return None
    words = [word for word in commands[0] if word.text not in ("then", "else", "do", "{", "if")]
    is_negated = bool(words) and words[0].text == "!"
    holds = _result([word.text for word in words[is_negated:]])
    return None if holds is None else holds is not is_negated


def _given(commands: Sequence[Sequence[ShellWord]]) -> tuple[str, str] | None:
    """Return the variable and the value of a condition that compares them (`[ "$RW" = write ]`), or None."""
    words = [word.text for word in commands[0]] if len(commands) == 1 else []
    found = _NAMED.fullmatch(words[1]) if len(words) == 5 and words[2] in ("=", "==") else None
    return (found[1], words[3]) if found and not _PATTERN.search(words[3]) else None


def _result(words: Sequence[str]) -> bool | None:
    """Return the result of `[ … ]`, `[[ … ]]`, `test …`, `true` and `false`, or None if it is unknown."""
    if len(words) == 1:
        return _ALWAYS.get(words[0])
    closing = {"[": "]", "[[": "]]", "test": words[-1] if words else ""}.get(words[0] if words else "")
    if closing is None or words[-1] != closing:
        return None
    given = words[1:] if words[0] == "test" else words[1:-1]
    if any(map(_NOT_LITERAL.search, given)):
        return None
    if len(given) == 2 and given[0] in ("-n", "-z"):
        return (given[1] != "") is (given[0] == "-n")
    return _comparison(given, is_pattern=closing == "]]") if len(given) == 3 else None


def _comparison(given: Sequence[str], *, is_pattern: bool) -> bool | None:
    one, compares, other = given
    if compares in ("=", "==", "!="):
        is_same = fnmatchcase(one, other) if is_pattern else one == other
        return is_same is (compares != "!=")
    if compares in _COMPARES and one.lstrip("-").isdecimal() and other.lstrip("-").isdecimal():
        return _COMPARES[compares](int(one), int(other))
    return None
