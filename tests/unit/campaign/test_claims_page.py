"""docs/claims.md lists every value, and all of its examples can be parsed."""

import re
from pathlib import Path

from poolproof.campaign.claims import CELL_VALUES, DEVICE_SHARES, parse_claim
from poolproof.campaign.document import Spot

PAGE = (Path(__file__).parents[3] / "docs" / "claims.md").read_text()


def test_every_value_is_on_the_page() -> None:
    table = PAGE.split("| value | meaning |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)", table)) == {*CELL_VALUES, *DEVICE_SHARES}


def test_every_example_can_be_parsed() -> None:
    examples = re.findall(r"^    that: (.*)$", PAGE, re.MULTILINE)
    assert len(examples) == 3
    for example in examples:
        parse_claim(example, Spot("docs/claims.md"))
