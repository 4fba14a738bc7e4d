"""Parse a YAML document into scalars, lists and mappings with line numbers.

Values such as `0777`, `2300` and `1_000` remain strings, because each key's own parser decides whether its value is a
number.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from poolproof.campaign.names import did_you_mean, listed
from poolproof.errors import CampaignError

_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE")
_NOTHING = ("", "~", "null", "Null", "NULL")
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_BRACKET = re.compile(r"[\[\]{}]")
_DEEPEST = 200
# In characters, with all aliases replaced by what they refer to. A campaign file has at most 1 MiB.
_LARGEST = 8 * 1024 * 1024
_OF_MEASURE = {
    **dict.fromkeys(("until", "confidence", "steady", "trials"), "until: 3%"),
    "calibrate": "calibrate: true",
}  # keys of `measure` that users often write at another level, each with an example
_WRITTEN_KEY = re.compile(r"\b(write |add )([a-z]+): (?=[\w.%])")
_REMOVED_KEY = re.compile(r"\b(remove )`([a-z]+)`")
_UNFIT_HINT = "save the file as UTF-8, without control characters"
_QUOTES_HINT = "put quotes around a value that contains `: `, ` #`, `{` or `[`"


@dataclass(frozen=True)
class Spot:
    """A location in a campaign: a file and a line number (from 1), or a command-line option (with line 0)."""

    origin: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.origin}:{self.line}" if self.line else self.origin

    def mistake(self, message: str, hint: str = "") -> CampaignError:
        return CampaignError(f"{self}: {message}", hint)


class OptionSpot(Spot):
    """An option of the command line whose value could also be written under a key of the campaign."""

    def mistake(self, message: str, hint: str = "") -> CampaignError:
        """Return the error. Its hint names options instead of keys: `--time 10s` instead of `time: 10s`."""
        if "--" not in hint:  # otherwise, it already says what to write on the command line
            hint = _REMOVED_KEY.sub(r"\1--\2", _WRITTEN_KEY.sub(r"\1--\2 ", hint))
        return super().mistake(message, hint)


@dataclass(frozen=True)
class Scalar:
    """A single value as written.

    `plain`: True if the value is unquoted. Only an unquoted `true` is a boolean, and only an unquoted `~` means "no
    value".
    """

    text: str
    plain: bool
    spot: Spot

    @property
    def is_nothing(self) -> bool:
        return self.plain and self.text in _NOTHING

    @property
    def as_flag(self) -> bool | None:
        """The value of an unquoted YAML boolean, or None for any other scalar."""
        if self.plain and self.text in _TRUE + _FALSE:
            return self.text in _TRUE
        return None


@dataclass(frozen=True)
class YamlList:
    """A YAML list, and the location at which it begins."""

    values: tuple["Node", ...]
    spot: Spot


@dataclass(frozen=True)
class YamlMapping:
    """A mapping with unique keys, in the order written."""

    entries: tuple[tuple[Scalar, "Node"], ...]
    spot: Spot

    def get(self, key: str) -> "Node | None":
        return next((value for name, value in self.entries if name.text == key), None)

    def spot_of(self, key: str) -> Spot:
        return next((name.spot for name, _ in self.entries if name.text == key), self.spot)


Node = Scalar | YamlList | YamlMapping


def parse_document(text: str, origin: str) -> Node | None:
    """Parse a string as a single YAML document. Return None if it is empty.

    Raises a CampaignError if the string is not YAML, is too large, is nested too deeply, contains several documents or
    a control character, has a key that is not a scalar, repeats a key in a mapping, or has an alias that contains
    itself.
    """
    if len(text) > _LARGEST:
        raise _too_large(origin)
    if _depth(text) > _DEEPEST:  # the time to parse grows with the square of the depth
        raise _too_deep(origin)
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.composer.warn_double_anchors = False
        root = yaml.compose(text)
    except MarkedYAMLError as error:
        raise _syntax(error, text, origin) from None
    except YAMLError as error:
        raise CampaignError(
            f"{origin}: YAML does not allow this text: {str(error).splitlines()[0]}", _UNFIT_HINT
        ) from None
    except RecursionError:
        raise _too_deep(origin) from None
    except (ValueError, OverflowError, AttributeError, TypeError, IndexError, KeyError) as error:
        raise CampaignError(f"{origin}: this is not valid YAML: {error}", _QUOTES_HINT) from None
    return None if root is None else _Converter(origin).convert(root)


def _depth(text: str) -> int:
    """Return the maximum nesting depth of brackets, or 0 if they are too few to exceed the limit."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return 0
    return max(itertools.accumulate(1 if bracket in "[{" else -1 for bracket in _BRACKET.findall(text)))


def _too_large(origin: str) -> CampaignError:
    millions = _LARGEST >> 20
    return CampaignError(
        f"{origin}: the campaign has more than {millions} Mi characters, including what aliases (`*name`) refer to",
        "split it into several campaigns",
    )


def _too_deep(origin: str) -> CampaignError:
    return CampaignError(
        f"{origin}: lists and mappings are nested too deeply",
        "remove the extra levels: a campaign needs about three levels",
    )


def describe(node: Node) -> str:
    """Describe the node for an error message, e.g. as `a list`."""
    if isinstance(node, Scalar):
        return "nothing" if node.is_nothing else f"`{_short(node.text)}`"
    return "a list" if isinstance(node, YamlList) else "a mapping"


def expect_mapping(node: Node, what: str, hint: str) -> YamlMapping:
    """Return the node if it is a mapping. Otherwise, raise a CampaignError: "expected `what` to be a mapping"."""
    if isinstance(node, YamlMapping):
        return node
    raise node.spot.mistake(f"expected {what} to be a mapping, found {describe(node)}", hint)


def expect_scalar(node: Node, what: str, hint: str) -> Scalar:
    """Return the node if it is a scalar with a value. Otherwise, raise a CampaignError: "expected `what`"."""
    if not isinstance(node, Scalar) or node.is_nothing:
        raise node.spot.mistake(f"expected {what}, found {describe(node)}", hint)
    return node


def expect_flag(node: Node, key: str, expected: str = "true or false") -> bool:
    """Return the node's boolean value.

    Raises a CampaignError if the node is not a boolean. The message is "expected `expected` after `key`".
    """
    flag = node.as_flag if isinstance(node, Scalar) else None
    if flag is None:
        raise node.spot.mistake(f"expected {expected} after `{key}`, found {describe(node)}", f"write {key}: true")
    return flag


def check_keys(table: YamlMapping, known: Sequence[str], what: str) -> None:
    """Raise a CampaignError if the mapping has a key that is not in `known`. The message calls the mapping `what`."""
    for key, _ in table.entries:
        if key.text in known:
            continue
        if key.text in _OF_MEASURE:
            hint = f"write measure: {{{_OF_MEASURE[key.text]}}}"
            raise key.spot.mistake(f"`{key.text}` belongs in `measure`, not in {what}", hint)
        guess = did_you_mean(key.text, known)
        raise key.spot.mistake(f"unknown key `{_short(key.text)}` in {what}{guess}", f"expected {listed(known)}")


class _Converter:
    """Converts ruamel's nodes to the types in this module.

    Each node is converted only once, because nested aliases would otherwise take exponential time. The rest of the
    campaign is read once for each alias, so the size of the document is limited as if there were no aliases.
    """

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._done: dict[int, Node] = {}
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def convert(self, node: Any) -> Node:
        """Convert a node with everything in it.

        Raises a CampaignError if a node is invalid, or if the nodes have too many characters.
        """
        if id(node) in self._open:
            spot = Spot(self._origin, node.start_mark.line + 1)
            raise spot.mistake("this alias refers to a value that contains the alias", "write out the value")
        if id(node) not in self._done:
            self._open.add(id(node))
            self._done[id(node)] = self._convert(node)
            self._sizes[id(node)] = self._size(node)
            self._open.discard(id(node))
        return self._done[id(node)]

    def _size(self, node: Any) -> int:
        """Return the number of characters in a node whose children were converted."""
        if node.id == "scalar":
            return 1 + len(node.value)
        children = node.value if node.id == "sequence" else itertools.chain.from_iterable(node.value)
        size = 1 + sum(self._sizes[id(child)] for child in children)
        if size > _LARGEST:
            raise _too_large(self._origin)
        return size

    def _convert(self, node: Any) -> Node:
        spot = Spot(self._origin, node.start_mark.line + 1)
        if node.id == "sequence":
            return YamlList(tuple(self.convert(item) for item in node.value), spot)
        if node.id == "scalar":
            if _UNFIT.search(node.value):
                raise spot.mistake("this value contains a control character", "remove the escape sequence")
            return Scalar(node.value, node.style is None, spot)
        entries: dict[str, tuple[Scalar, Node]] = {}
        for key_node, value_node in node.value:
            key = self.convert(key_node)
            if not isinstance(key, Scalar):
                raise key.spot.mistake(f"expected a word before `:`, found {describe(key)}", _QUOTES_HINT)
            if key.text in entries:
                first = entries[key.text][0].spot.line
                raise key.spot.mistake(f"`{_short(key.text)}` is already defined on line {first}", "remove one of them")
            value = self.convert(value_node)
            if isinstance(value, Scalar) and not value.text:
                # YAML reports a missing value on the line where the next node begins.
                value = replace(value, spot=key.spot)
            entries[key.text] = (key, value)
        return YamlMapping(tuple(entries.values()), spot)


def _syntax(error: MarkedYAMLError, text: str, origin: str) -> CampaignError:
    mark = error.problem_mark or error.context_mark
    spot = Spot(origin, mark.line + 1 if mark else 0)
    problem = error.problem or error.context or "not valid YAML"
    lines = text.splitlines()
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return spot.mistake(
            "this line is indented with a tab; YAML allows only spaces", "replace the tab with two spaces"
        )
    if "single document" in str(problem) or "another document" in str(problem):
        return spot.mistake(
            "a second YAML document begins here; a campaign must be a single document", "remove the `---` line"
        )
    return spot.mistake(f"this is not valid YAML: {problem}", _QUOTES_HINT)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."
