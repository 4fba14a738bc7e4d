"""Change options of jobs in place in their text; all other characters stay as they are."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from poolproof.foreign.lint.model import Form, JobSection, Unit, WrittenOption
from poolproof.rules.model import Changes


@dataclass(frozen=True)
class Edit:
    """Replace the characters from `start` to `end` with `text`."""

    start: int
    end: int
    text: str


def changed(text: str, unit: Unit, changes: Mapping[int, Changes]) -> str | None:
    """Return the text with the changes, given by the job's index in the unit; None if they can't be made in place."""
    if unit.sections is None:
        return None
    edits: list[Edit] = []
    for section, needed in _by_section(unit.sections, changes):
        made = _section_edits(text, unit.form, section, needed)
        if made is None:
            return None
        edits += made
    return _applied(text, edits)


def _by_section(sections: Sequence[JobSection], changes: Mapping[int, Changes]) -> Iterator[tuple[JobSection, Changes]]:
    """Yield each section with its changes. A change that all jobs below a shared section need is made there."""
    own = [section for section in sections if not section.is_shared]
    left = {place: dict(needed) for place, needed in changes.items()}
    for section in sections:
        if not section.is_shared:
            continue
        below = [place for place, each in enumerate(own) if each.insert_at > section.insert_at]
        common = _common([left.get(place, {}) for place in below])
        theirs = {name: value for name, value in common.items() if _has_option(section, name) or len(below) > 1}
        if theirs:
            yield section, theirs
        for place in below:
            for name in theirs:
                if not _has_option(own[place], name):
                    left[place].pop(name, None)
    for place, section in enumerate(own):
        if left.get(place):
            yield section, left[place]


def _common(needed: Sequence[Mapping[str, str | None]]) -> dict[str, str | None]:
    if not needed:
        return {}
    return {name: value for name, value in needed[0].items() if all(each.get(name, "") == value for each in needed)}


def _has_option(section: JobSection, name: str) -> bool:
    return any(setting.name == name for setting in section.settings)


def _section_edits(text: str, form: Form, section: JobSection, needed: Changes) -> list[Edit] | None:
    edits: list[Edit] = []
    added: list[str] = []
    for name, value in needed.items():
        existing = [setting for setting in section.settings if setting.name == name]
        if value is None:
            edits += [_removal(text, form, setting) for setting in existing]
        elif existing:
            edits.append(Edit(existing[-1].start, existing[-1].end, _written(form, existing[-1].given, value)))
        else:
            added.append(_written(form, f"--{name}" if form == "command" else name, value))
    if added and form == "command" and section.is_shared and not section.settings:
        return None
    if added:
        edits.append(_addition(text, form, section.insert_at, added))
    return edits


def _written(form: Form, name: str, value: str) -> str:
    return f"{name}={shlex.quote(value) if form == 'command' else value}"


def _removal(text: str, form: Form, setting: WrittenOption) -> Edit:
    """Remove the whole line from a job file, except a comment; from a command, the word and the blanks before it."""
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
