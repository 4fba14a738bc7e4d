"""Changes to the options of jobs, made in the text where they stand; every other character stays."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.foreign.lint.model import Form, JobSection, Unit, WrittenOption
from poolproof.rules.model import Changes


@dataclass(frozen=True)
class Edit:
    """Characters `start` to `end` become `text`."""

    start: int
    end: int
    text: str


def changed(text: str, unit: Unit, changes: Mapping[int, Changes]) -> str | None:
    """The text with the changes to the jobs of a unit, by their places; None where they can't be made in place."""
    if unit.sections is None:
        return None
    edits: list[Edit] = []
    for section, wanted in _by_section(unit.sections, changes):
        made = _of_section(text, unit.form, section, wanted)
        if made is None:
            return None
        edits += made
    return _applied(text, edits)


def _by_section(sections: Sequence[JobSection], changes: Mapping[int, Changes]) -> Iterator[tuple[JobSection, Changes]]:
    """What to change in each section. An option that all who share it want changed is changed where it is shared."""
    own = [section for section in sections if not section.is_shared]
    left = {place: dict(wanted) for place, wanted in changes.items()}
    for section in sections:
        if not section.is_shared:
            continue
        below = [place for place, each in enumerate(own) if each.insert_at > section.insert_at]
        common = _common([left.get(place, {}) for place in below])
        theirs = {name: value for name, value in common.items() if _has(section, name) or len(below) > 1}
        if theirs:
            yield section, theirs
        for place in below:
            for name in theirs:
                if not _has(own[place], name):
                    left[place].pop(name, None)
    for place, section in enumerate(own):
        if left.get(place):
            yield section, left[place]


def _common(wanted: Sequence[Mapping[str, str | None]]) -> dict[str, str | None]:
    if not wanted:
        return {}
    return {name: value for name, value in wanted[0].items() if all(each.get(name, "") == value for each in wanted)}


def _has(section: JobSection, name: str) -> bool:
    return any(setting.name == name for setting in section.settings)


def _of_section(text: str, form: Form, section: JobSection, wanted: Changes) -> list[Edit] | None:
    edits: list[Edit] = []
    added: list[str] = []
    for name, value in wanted.items():
        standing = [setting for setting in section.settings if setting.name == name]
        if value is None:
            edits += [_removal(text, form, setting) for setting in standing]
        elif standing:
            edits.append(Edit(standing[-1].start, standing[-1].end, _spelled(form, standing[-1].given, value)))
        else:
            added.append(_spelled(form, f"--{name}" if form == "command" else name, value))
    if added and form == "command" and section.is_shared and not section.settings:
        return None
    if added:
        edits.append(_addition(text, form, section.insert_at, added))
    return edits


def _spelled(form: Form, name: str, value: str) -> str:
    return f"{name}={shlex.quote(value) if form == 'command' else value}"


def _removal(text: str, form: Form, setting: WrittenOption) -> Edit:
    """In a job file the whole line, but for a comment; on a command line the word and the blanks before it."""
    if form == "command":
        start = setting.start
        while start > 0 and text[start - 1] in " \t":
            start -= 1
        return Edit(start, setting.end, "")
    begin = text.rfind("\n", 0, setting.start) + 1
    ending = text.find("\n", setting.end)
    ending = len(text) if ending < 0 else ending
    if text[setting.end : ending].strip():
        return Edit(setting.start, setting.end, "")
    return Edit(begin, min(ending + 1, len(text)), "")


def _addition(text: str, form: Form, place: int, added: Sequence[str]) -> Edit:
    if form == "command":
        return Edit(place, place, "".join(f" {each}" for each in added))
    before = "" if place == 0 or text[place - 1] == "\n" else "\n"
    return Edit(place, place, before + "".join(f"{each}\n" for each in added))


def _applied(text: str, edits: Sequence[Edit]) -> str:
    for edit in sorted(edits, key=lambda each: (each.start, each.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
