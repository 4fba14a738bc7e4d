"""Directories in RAM in the manifests of containers: an `emptyDir` with `medium: Memory`, and `tmpfs:` of compose."""

import re
from collections.abc import Iterator

from poolproof.foreign.lint.prepared_files import PreparedFile

_VOLUME = re.compile(
    r"^[ ]*- name:[ ]*[\"']?(?P<name>[\w.-]+)[\"']?[ ]*\n(?:[ ]*#.*\n)*"
    r"[ ]*emptyDir:[ ]*(?:\{[^{}\n]*\b|\n(?:[ ]+[a-z]\w*:.*\n){0,3}?[ ]+)medium:[ ]*[\"']?Memory\b",
    re.MULTILINE,
)
_MOUNT = re.compile(
    r"^[ ]*- (?:name:[ ]*[\"']?(?P<name>[\w.-]+)[\"']?[ ]*\n[ ]+mountPath:[ ]*[\"']?(?P<path>/[^\s\"']*)"
    r"|mountPath:[ ]*[\"']?(?P<first>/[^\s\"']*)[\"']?[ ]*\n[ ]+name:[ ]*[\"']?(?P<second>[\w.-]+))",
    re.MULTILINE,
)
_TMPFS = re.compile(
    r"^[ ]*tmpfs:(?:[ ]*[\"']?(?P<one>/[^\s\"':]*)|[ ]*\n(?P<several>(?:[ ]*- .*(?:\n|\Z))+))", re.MULTILINE
)
_ITEM = re.compile(r"- [\"']?(?P<path>/[^\s\"':]*)")


def memory_volumes(text: str) -> Iterator[PreparedFile]:
    names = {found["name"] for found in _VOLUME.finditer(text)} if "emptyDir" in text else set()
    for found in _MOUNT.finditer(text) if names else ():
        if (found["name"] or found["second"]) in names:
            yield _in_ram(found["path"] or found["first"])
    for found in _TMPFS.finditer(text):
        paths = [found["one"]] if found["one"] else [each["path"] for each in _ITEM.finditer(found["several"])]
        yield from map(_in_ram, paths)


def _in_ram(path: str) -> PreparedFile:
    return PreparedFile(path, "in RAM", "mount", 1)  # before all commands, because the order of a manifest is free
