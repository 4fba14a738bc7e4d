"""The filter between untrusted names and the terminal, which prints control characters as escapes such as `\\x1b`.

Names, messages and paths can come from strangers. A terminal would obey control characters in them, and bidirectional
controls would change the apparent order of the text. `main` installs the filter for standard output and standard error,
so that no command can forget it. Colours are not affected, because rich adds them after filtering. HTML pages and
pictures use the same escapes.
"""

import contextlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

_C0_AND_C1 = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_DIRECTIONS = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_HIDDEN = re.compile(rf"[{_C0_AND_C1}{_DIRECTIONS}\u2028\u2029\ud800-\udfff]|\r(?!\n)")


def visible(text: str) -> str:
    """Escape control characters, except tabs and line ends (including the CRLF of CSV)."""
    return _HIDDEN.sub(_escape, text)


def visible_line(text: str) -> str:
    """Escape control characters, including line ends, so that the result is always a single line."""
    return visible(text.replace("\n", "\\n"))


def visible_texts(value: Any) -> Any:
    """Return a copy of a JSON value with the control characters escaped in all strings, including keys."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible_texts(key): visible_texts(each) for key, each in value.items()}
    return [visible_texts(each) for each in value] if isinstance(value, list | tuple) else value


def _escape(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


class VisibleStream:
    """A text stream that escapes control characters in everything that is written to it.

    `unfiltered`: the underlying stream, for coloured output.

    The stream has no `buffer`, so that no output can bypass the filter by accident.
    """

    def __init__(self, stream: IO[str]) -> None:
        self.unfiltered = stream

    def write(self, text: str) -> int:
        """Write the filtered text. Return the length of `text` before filtering."""
        self.unfiltered.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Filter the lines and write them."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.unfiltered, name)


@contextlib.contextmanager
def filtered_output() -> Iterator[None]:
    """Filter standard output and standard error until the context ends."""
    with contextlib.redirect_stdout(VisibleStream(sys.stdout)), contextlib.redirect_stderr(VisibleStream(sys.stderr)):
        yield


def unfiltered(stream: IO[str]) -> IO[str]:
    """Return the stream behind the filter, for coloured output whose contents have already been filtered."""
    found: IO[str] = getattr(stream, "unfiltered", stream)
    return found


def visible_console(stream: IO[str]) -> "Console":
    """Return a rich console that escapes control characters in text, but not in the colour codes that it adds."""
    from rich.console import Console
    from rich.segment import Segment

    class VisibleConsole(Console):
        def render(self, renderable: "RenderableType", options: "ConsoleOptions | None" = None) -> "Iterable[Segment]":
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else visible(text), style, control)

    return VisibleConsole(file=unfiltered(stream), highlight=False)
