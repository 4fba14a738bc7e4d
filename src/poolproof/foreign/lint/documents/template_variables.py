"""The variables of an Ansible playbook, such as `{{ fio_size }}`.

A variable is known if `vars` or `set_fact` in the same text gives it one literal value, or if it has a default
(`{{ fio_size | default('1g') }}`) and the text does not set it.
"""

import re
from collections.abc import Mapping

_BLOCK = re.compile(
    r"^(?P<indent>[ ]*)(?:- )?(?:vars|(?:ansible\.builtin\.)?set_fact):[ ]*\n"
    r"(?P<lines>(?:(?P=indent)[ ]+\S.*(?:\n|\Z)|[ ]*\n)+)",
    re.MULTILINE,
)
_SETTING = re.compile(
    r"^(?P<indent>[ ]+)(?P<name>[A-Za-z_]\w*):[ ]+"
    r"(?:(?P<quote>[\"'])(?P<quoted>[^\"'\n]*)(?P=quote)|(?P<plain>[^\s#\"'][^\n#]*?))"
    r"[ ]*(?:[ ]#.*)?$",
    re.MULTILINE,
)
_VARIABLE = re.compile(r"\{\{-?\s*(?P<name>[A-Za-z_]\w*)\s*(?P<filters>(?:\|[^{}|]{0,80}){0,4})-?\}\}")
_DEFAULT = re.compile(r"(?:default|d)\(\s*(?:(?P<quote>[\"'])(?P<text>[^\"']*)(?P=quote)|(?P<number>\d+))\s*(?:,.*)?\)")
_KEEPING = frozenset({"", "int", "string", "quote", "trim", "mandatory"})
_NOT_LITERAL = ("{{", "[", "{", "|", ">", "&", "*", "!")


def template_variables(text: str) -> dict[str, str]:
    """Return the variables that a playbook sets, keyed by `{{ name }}`. The value of an unknown one is `{{ name }}`."""
    values: dict[str, set[str]] = {}
    for block in _BLOCK.finditer(text) if "{{" in text else ():
        for found in _SETTING.finditer(block["lines"]):
            if len(found["indent"]) > _indent_of(block["lines"]):  # a member of another variable
                continue
            value = found["quoted"] if found["quoted"] is not None else found["plain"]
            key = f"{{{{ {found['name']} }}}}"
            values.setdefault(key, set()).add(key if value.startswith(_NOT_LITERAL) or "{{" in value else value)
    return {key: next(iter(given)) if len(given) == 1 else key for key, given in values.items()}


def _indent_of(lines: str) -> int:
    first = next(line for line in lines.split("\n") if line.strip())
    return len(first) - len(first.lstrip())


def with_values(text: str, variables: Mapping[str, str]) -> str:
    """Replace the variables of a template with their values. Unknown variables stay as written."""

    def value(found: re.Match[str]) -> str:
        filters = [each.strip() for each in found["filters"].split("|")]
        defaults = [each for name in filters if (each := _DEFAULT.fullmatch(name))]
        if len(defaults) + sum(name in _KEEPING for name in filters) < len(filters):
            return found[0]
        known = variables.get(f"{{{{ {found['name']} }}}}")
        if known is not None:
            return found[0] if known.startswith("{{") else known
        return (defaults[0]["text"] or defaults[0]["number"] or "") if defaults else found[0]

    return _VARIABLE.sub(value, text) if "{{" in text else text
