"""The unit of yabs' rates: 1000 KiB/s, or 10^6 bytes per second in some versions."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_TABLE = """Block Size | 64k           (IOPS) | 512k          (IOPS)
  ------   | ---            ----  | ----           ----
Read       | 131.90 MB/s   (2.0k) | {rate} MB/s    (400)
Write      | 132.40 MB/s   (2.0k) | {rate} MB/s    (400)
"""


@pytest.mark.parametrize(("rate", "factor"), [("209.80", 1.0), ("204.90", 1.024)], ids=["bytes", "KiB"])
def test_the_other_cells_decide_which_unit_an_ambiguous_cell_has(rate: str, factor: float) -> None:
    small, large = audit_text("post", _TABLE.format(rate=rate), Context())

    rates = [each.figures.directions["read"].bandwidth_bytes for each in (small, large)]
    assert rates == [pytest.approx(131.9e6 * factor), pytest.approx(float(rate) * 1e6 * factor)]
