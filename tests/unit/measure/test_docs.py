"""docs/campaign.md lists the options that poolproof adds to a job."""

import re
from pathlib import Path

from poolproof.load.fio.jobs import ADDED

PAGE = Path(__file__).parents[3] / "docs" / "campaign.md"


def test_the_page_lists_what_is_added() -> None:
    section = PAGE.read_text().split("### What poolproof adds")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)=([^`]*)` \| (.*) \|$", section, re.MULTILINE)
    assert rows == [(name, value, why) for name, (value, why) in ADDED.items()]
