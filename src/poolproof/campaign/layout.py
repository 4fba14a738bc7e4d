"""Layouts as a campaign defines them: a name and an expression; braces make several layouts of one expression."""

from collections.abc import Collection, Iterator

from poolproof.campaign.braces import expand
from poolproof.campaign.document import Spot
from poolproof.campaign.expression import Expression, Group, Stage, Word, mistake_in
from poolproof.campaign.grammar import parse_expression
from poolproof.campaign.model import Layout
from poolproof.campaign.names import NAME_RULE, is_name, matrix_name

_PATH_LAYER = "dir"  # its words are directories, never devices


def make_layouts(name: str, text: str, spot: Spot) -> tuple[Layout, ...]:
    """Return the layouts that one expression describes, named by what varies.

    Raises:
        CampaignError: the name or the expression has a mistake.
    """
    if not is_name(name):
        raise spot.mistake(f"`{name}` cannot name a layout", f"use {NAME_RULE}")
    variants = expand(parse_expression(text, str(spot)))
    return tuple(Layout(matrix_name(name, each.varies), each.expression, each.varies) for each in variants)


def check_devices_once(layout: Layout, devices: Collection[str]) -> None:
    """Check that a layout uses each device once: otherwise it would measure a disk against itself.

    Raises:
        CampaignError: a device is used twice; the message points at the second use.
    """
    used: set[str] = set()
    for word in _words(layout.expression):
        if word.text in devices and word.text in used:
            raise mistake_in(
                layout.expression,
                word.span,
                f"layout `{layout.name}` uses device `{word.text}` twice",
                "name another device, or add one under `devices:`",
            )
        used.add(word.text)


def devices_of(layout: Layout, devices: Collection[str]) -> frozenset[str]:
    """Return the devices of the campaign that the layout uses."""
    return frozenset(word.text for word in _words(layout.expression) if word.text in devices)


def _words(expression: Expression) -> Iterator[Word]:
    for stage in expression.stages:
        if not _is_path(stage):
            for argument in stage.arguments:
                if isinstance(argument, Word):
                    yield argument
                elif isinstance(argument, Group):
                    yield from _words(argument.expression)


def _is_path(stage: Stage) -> bool:
    head = stage.arguments[0]
    return isinstance(head, Word) and head.text == _PATH_LAYER
