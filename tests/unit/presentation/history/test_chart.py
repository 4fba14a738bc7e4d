"""The drawn history of a cell: each tick shows its day, and its hour on a 24-hour clock."""

import re

import vl_convert

from poolproof.presentation.charts import theme as look
from poolproof.presentation.history import history_chart


def test_ticks_show_the_day_and_the_hour() -> None:
    begun = ("2026-11-21T19:30:00", "2026-11-21T23:15:00")
    result = {"value": 100.0, "low": 90.0, "high": 110.0, "counts": True, "unsettled": False, "verdict": "sound"}
    points = [{"begun_at": at, "run": at, "versions": "", "text": "100", "change": "", **result} for at in begun]
    text = vl_convert.vegalite_to_svg(look.dressed(history_chart(points, "iops")))
    hours = re.findall(r">Nov 21, (\d\d):\d\d<", text)
    assert hours and {int(hour) for hour in hours} <= {18, 19, 20, 21, 22, 23}
    assert not re.search(r">\d\d:\d\d<", text)
