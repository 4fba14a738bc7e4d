"""docs/claims.md: every figure is on the page, and every example of it reads."""

import re
from pathlib import Path

from poolproof.campaign.claims import FIGURES, SHARES, parse_claim
from poolproof.campaign.document import Spot

PAGE = (Path(__file__).parents[3] / "docs" / "claims.md").read_text()


def test_every_figure_is_on_the_page() -> None:
    table = PAGE.split("| figure | is |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)", table)) == {*FIGURES, *SHARES}


def test_every_example_reads() -> None:
    examples = re.findall(r"^    that: (.*)$", PAGE, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        parse_claim(example, Spot("docs/claims.md"))
