"""The host's clock is set several times during a run. No window, rate or order of trials may change.

It is first set between the start of poolproof and that of the first fio. One of the later steps is a full hour,
forwards or backwards. The machine's real clock is not changed. Instead, a library that is compiled here and loaded
before the C library returns the changed time to poolproof, fio and all other programs of the run.
"""

import os
import random
import subprocess
import time
from itertools import pairwise
from pathlib import Path

from tests.faults.fault import Outcome, trials
from tests.loop.command import Started
from tests.loop.testbed import Testbed

LIMIT_S = 120.0
"""The time limit, in seconds, from the change of the clock to the end of the run."""

_CAMPAIGN = """
layouts: {one: 'dir {data}'}
workloads:
  capped: {rw: randread, bs: 4k, size: 16m, rate_iops: 200, ramp_time: 1s}
  precise: {rw: randread, bs: 4k, size: 16m, rate_iops: 200}
measure: {until: 20%, min: 2s, max: 8s, trials: 2, seed: 7}
"""
_RATE = 200.0
_MEET_S = 240.0
_EARLY_S, _SMALL_S = 300, 5
_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static const volatile long *offset;
__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
    void *page = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) offset = page;
    close(file);
}
static long shift(void) { return offset ? *offset : 0; }
int clock_gettime(clockid_t id, struct timespec *now) {
    int code = syscall(SYS_clock_gettime, id, now);
    if (!code && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += shift();
    return code;
}
int gettimeofday(struct timeval *now, void *zone) {
    struct timespec at;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &at);
    now->tv_sec = at.tv_sec;
    now->tv_usec = at.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *to) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (to) *to = at.tv_sec;
    return at.tv_sec;
}
"""
_RUNNING: dict[str, tuple[Started, float]] = {}


def inject(testbed: Testbed, chance: random.Random) -> None:
    source, library, offset = (testbed.path / name for name in ("clock.c", "clock.so", "offset"))
    source.write_text(_SOURCE)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True, timeout=60)
    offset.write_bytes(bytes(8))
    env = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)}
    before = {name: os.environ.get(name) for name in env}
    os.environ.update(env)
    try:
        started = Started(testbed.path, *testbed.words(testbed.campaign(_CAMPAIGN)))
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
    testbed.wait_until_planned(started)
    _set(offset, _EARLY_S)
    started.wait_for_program("fio", "job.fio", _MEET_S)
    time.sleep(1.0)
    for shift in (_EARLY_S + chance.choice((3600, -3600)), _SMALL_S, 0):  # at random moments of the four trials
        _set(offset, shift)
        time.sleep(chance.uniform(3.0, 6.0))
    _RUNNING[str(testbed.path)] = started, time.monotonic()


def _set(offset: Path, shift_s: int) -> None:
    with offset.open("r+b") as file:
        file.write(shift_s.to_bytes(8, "little", signed=True))


def expect(testbed: Testbed, chance: random.Random) -> Outcome:
    del chance
    started, begun = _RUNNING.pop(str(testbed.path))
    answer = started.wait(LIMIT_S * 2)
    took_s, found = time.monotonic() - begun, trials(testbed)
    wrong = [] if answer.code == 0 else [f"{answer.code}: {answer.err}"]
    if len(found) != 4:
        wrong.append(f"{len(found)} trials")
    begins = [trial["begun_at"] for trial in found]
    if begins != sorted(begins) or not all(a < b for a, b in pairwise(begins)):
        wrong.append(f"the order of the trials: {begins}")
    for trial in found:
        figures, account = trial["figures"] or {}, trial["account"] or {}
        rate, window_s = figures.get("iops"), account.get("window_s", 4.0)
        if not rate or not 0.3 * _RATE < rate < 1.2 * _RATE:
            wrong.append(f"{trial['workload']}: {rate} IOPS instead of {_RATE:g}")
        ran_s = (trial["settling"] or {}).get("ran_s", window_s)
        if not ran_s - 0.5 < window_s < ran_s + (0.5 if trial["workload"] == "capped" else 8.0):
            wrong.append(f"{trial['workload']}: a window of {window_s} s for {ran_s} s of fio")
    leaks = testbed.traces()
    return Outcome(len(leaks), 0, 0, took_s, "; ".join([*wrong, *leaks]))


def clean(testbed: Testbed) -> None:
    del testbed
