"""The history of a cell as it is drawn: each tick tells its day, and its hour on a clock of 24."""

import re

import vl_convert

from poolproof.presentation.charts import theme as look
from poolproof.presentation.charts.history import HistoryPoint, history


def test_ticks_tell_the_day_and_the_hour() -> None:
    begun = ("2026-11-21T19:30:00", "2026-11-21T23:15:00")
    points = [HistoryPoint(at, f"run-{at}", "fio-3.39", 100.0, 90.0, 110.0, 100.0, "sound", "", "100") for at in begun]
    text = vl_convert.vegalite_to_svg(look.dressed(history(points, "iops")))
    hours = re.findall(r">Nov 21, (\d\d):\d\d<", text)
    assert hours and {int(hour) for hour in hours} <= {18, 19, 20, 21, 22, 23}
    assert not re.search(r">\d\d:\d\d<", text)
