"""The name of a campaign, without reading all of it: every resolved campaign says it in its first line."""

import re

_NAME = re.compile(r"^name: *[\"']?([\w.-]+)", re.MULTILINE | re.ASCII)


def campaign_name(text: str) -> str:
    """The name in a campaign's YAML text; empty where it has none."""
    match = _NAME.search(text)
    return match[1] if match else ""
