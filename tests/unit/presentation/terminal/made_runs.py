"""Runs made by chance whose layouts and workloads are unlike: how long each took, and what was told while they went."""

import math
import random
from collections.abc import Mapping, Sequence

from benchmarks.time_left import Timed, timed

from poolproof.campaign.yaml import parse_campaign

_KINDS = ("file: 2G", "emulate: hdd-7200, size: 2G", "emulate: sata-ssd, size: 2G")
_BUILDS_S = (4.0, 25.0, 8.0)
_DEVICES = 9


def made_run(rng: random.Random, layouts: int, workloads: int, *, adaptive: bool) -> Timed:
    """Layouts on one or two devices of three kinds; trials of 2 to 60 s by workload; up to six where adaptive."""
    slowness = [rng.uniform(0.7, 1.3), rng.uniform(1, 3), rng.uniform(0.6, 1.2)]
    chosen = [rng.sample(range(_DEVICES), rng.choice((1, 1, 2))) for _ in range(layouts)]
    lengths_s = [math.exp(rng.uniform(math.log(2), math.log(60))) for _ in range(workloads)]
    usual = [rng.choice((2, 2, 2, 3, 4, 6)) if adaptive else 3 for _ in range(workloads)]
    at_s, trials = 0.0, []
    for number, devices in enumerate(chosen):
        own = rng.lognormvariate(0, 0.15)
        at_s += own * max(_BUILDS_S[each % 3] for each in devices) * math.sqrt(len(devices))
        slow = own * max(slowness[each % 3] for each in devices)
        counts = [min(6, max(2, most + rng.choice((-1, 0, 0, 1)))) if adaptive else 3 for most in usual]
        for round_ in range(1, 7):
            order = [workload for workload, count in enumerate(counts) if round_ <= count]
            rng.shuffle(order)
            for workload in order:
                took_s = lengths_s[workload] * slow * rng.lognormvariate(0, 0.12)
                trials.append((f"l{number}", f"w{workload}", round_, at_s, took_s))
                at_s += took_s + 0.05
    return timed("made", parse_campaign(_text(chosen, workloads, adaptive=adaptive), "made"), trials)


def _text(chosen: Sequence[Sequence[int]], workloads: int, *, adaptive: bool) -> str:
    devices = ", ".join(f"d{number}: {{{_KINDS[number % 3]}}}" for number in range(_DEVICES))
    lines = [f"devices: {{{devices}}}", "layouts:"]
    for number, each in enumerate(chosen):
        lines.append(
            f"  l{number}: " + (f"d{each[0]} | ext4" if len(each) == 1 else f"btrfs raid1 d{each[0]} d{each[1]}")
        )
    lines += ["workloads:", *(f"  w{number}: {{rw: read, bs: 4k, size: 64m}}" for number in range(workloads))]
    return "\n".join([*lines, f"measure: {_MEASURE[adaptive]}"])


_MEASURE: Mapping[bool, str] = {True: "{until: 3%, trials: 2..6}", False: "{time: 5s, trials: 3}"}
