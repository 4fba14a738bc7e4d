"""The usage line of a command, in which a required argument is `RUN` and an optional one `[RUN]`."""

from typing import Any

from typer.core import TyperCommand


class PlainCommand(TyperCommand):
    """A command whose usage line has no braces around required arguments. Typer would print `{RUN}`."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line."""
        return [piece[1:-1] if piece.startswith("{") else piece for piece in super().collect_usage_pieces(ctx)]
