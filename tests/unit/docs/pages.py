"""The keys in the tables in docs/, and the keys of types and JSON values, both as paths such as `cells[].iops.mean`."""

import dataclasses
import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

DOCS = Path(__file__).parents[3] / "docs"
_ROW = re.compile(r"^\| `([^`]+)` \| (.+) \|$", re.MULTILINE)


def section(page: str, heading: str) -> str:
    """Return the part of a page between a `##` heading and the next one."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.split(r"^## ", text.partition(f"\n## {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def documented(page: str, heading: str) -> set[str]:
    """Return the keys in the table under a heading. A row "as in `X`" stands for the keys below it in section X."""
    rows = dict(_ROW.findall(section(page, heading)))
    keys = set()
    for key, meaning in rows.items():
        other = re.match(r"as in `([^`]+)`", meaning)
        keys |= {path for path in documented(page, f"`{other[1]}`") if _under(path, key)} if other else {key}
    return keys


def _under(path: str, key: str) -> bool:
    return re.split(r"[.\[]", path)[0] == key


def keys_of_type(kind: Any) -> set[str]:
    """Return the paths of all values that a type can contain. The keys of a mapping become `*`."""
    return {path.lstrip(".") for path in _type_paths(kind)}


def _type_paths(kind: Any) -> Iterator[str]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield from _field_paths({field.name: field.type for field in msgspec.structs.fields(kind)})
        if kind.__struct_config__.tag_field:
            yield f".{kind.__struct_config__.tag_field}"
    elif dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        yield from _field_paths({field.name: hints[field.name] for field in dataclasses.fields(kind)})
    elif origin is typing.Annotated:
        yield from _type_paths(arguments[0])
    elif origin is tuple:
        yield from (f"[]{path}" for path in _type_paths(arguments[0]))
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield from (f".*{path}" for path in _type_paths(arguments[1]))
    elif origin in (types.UnionType, typing.Union):
        for argument in arguments:
            if argument is not type(None):
                yield from _type_paths(argument)
    else:
        yield ""


def _field_paths(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, kind in fields.items():
        yield from (f".{name}{path}" for path in _type_paths(kind))


def keys_of_value(value: Any, free: frozenset[str] = frozenset()) -> set[str]:
    """Return the paths of all values in a JSON value.

    Keys below a path in `free` are chosen by the user, so they become `*`.
    """
    return {path.lstrip(".") for path in _value_paths(value, "", free)}


def _value_paths(value: Any, path: str, free: frozenset[str]) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _value_paths(inner, f"{path}.{'*' if path.lstrip('.') in free else name}", free)
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _value_paths(inner, f"{path}[]", free)
    elif value not in ([], {}):
        yield path


def optional_parents(keys: set[str]) -> set[str]:
    """Return every path that is a prefix of one of the keys.

    An object that may be null also has a row for its own path.
    """
    parents = set()
    for key in keys:
        parts = re.split(r"(?=\.|\[\])", key)
        parents |= {"".join(parts[:count]) for count in range(1, len(parts))}
    return parents
