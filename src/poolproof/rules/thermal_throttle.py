"""A drive that slowed itself down."""

from collections.abc import Iterable

from poolproof.rules.model import Case, Finding, Rule
from poolproof.rules.reproduction import script
from poolproof.units import format_duration


def _in_result(case: Case) -> Iterable[Finding]:
    seconds = case.evidence.throttled_s if case.evidence else None
    if seconds:
        yield Finding(
            rule="thermal-throttle",
            effect="notes",
            message=f"a drive held itself back for {format_duration(seconds)} because it was too hot: the figure mixes "
            "a cool drive and a hot one",
            fix="cool it, or wait between trials; `nvme smart-log DEVICE` shows temperature and thermal transitions",
            weight=60,
        )


RULE = Rule(
    id="thermal-throttle",
    title="The drive grew hot",
    wrong="An NVMe drive without airflow slows down after some minutes of load. The mean is neither the cool nor the "
    "hot rate.",
    shows="In evidence that names seconds of it (`throttled_s`). poolproof itself does not read the drives' thermal "
    "counters, so that its own runs never have them: compare `nvme smart-log DEVICE` before and after.",
    error="Low, and unsteady.",
    mend="Airflow; rate_min= to end a run that falls.",
    sources=("NVM Express base specification (SMART log)", "https://github.com/axboe/fio/issues/1112"),
    pitfall_numbers="#39",
    in_result=_in_result,
    reproduce=script(
        "fio --name=trap --filename=trap --rw=write --bs=1m --size=8g --direct=1 --time_based --runtime=600; nvme "
        "smart-log /dev/nvme0 | grep -i therm",
        needs="Needs nvme-cli and an NVMe drive.",
    ),
)
