"""An nbdkit plugin that serves one emulated disk. nbdkit's embedded Python interpreter loads this file by its path.

    nbdkit -U SOCKET -P PIDFILE -t 8 python plugin.py model=hdd-7200 size=1073741824 store=FILE [seed=1] [key=value …]

`store`: a sparse file for the disk's data. It is created if it is missing, and resized to `size`.
`pipeline`: the round-trip time in seconds between the caller and this plugin. It is subtracted from each service time.

Any other key is a parameter of the model (`stroke=1.0`).
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import nbdkit

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from poolproof.devices.emulated.model import MODELS, DiskModel  # noqa: E402

API_VERSION = 2
_PUNCH_HOLE_KEEP_SIZE = 0x02 | 0x01
_PR_SET_TIMERSLACK = 29
_BLOCK_BYTES = 4096
_MOST_BYTES = 32 << 20

_libc = ctypes.CDLL(None, use_errno=True)
_libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


class _Served:
    """The disk that this process emulates."""

    size: int
    store: int
    half_pipeline_s: float
    model: DiskModel

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.lock = threading.Lock()

    def take_settings(self) -> None:
        given = dict(self.settings)
        self.size = int(given.pop("size"))
        self.half_pipeline_s = float(given.pop("pipeline", "0")) / 2
        kind = MODELS[given.pop("model")]
        store, seed = given.pop("store"), int(given.pop("seed", "1"))
        self.model = kind.build(self.size, seed, given)
        self.store = os.open(store, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self.store, self.size)

    def completion(self, service: Callable[[float], float]) -> float:
        """Return the completion time of a request that this process has just received.

        `service`: computes it from the arrival time at the emulated disk, which is half a round trip earlier.
        """
        arrived = time.monotonic() - self.half_pipeline_s
        with self.lock:
            return service(arrived)


_served = _Served()


def thread_model() -> int:
    return int(nbdkit.THREAD_MODEL_PARALLEL)


def config(key: str, value: str) -> None:
    _served.settings[key] = value


def config_complete() -> None:
    try:
        _served.take_settings()
    except KeyError as missing:
        raise RuntimeError(f"unknown model or missing setting: {missing}") from None
    except OSError as error:  # nbdkit would print a traceback, and poolproof shows what nbdkit prints
        sys.stderr.write(f"the file for the disk cannot be created: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(1)


def after_fork() -> None:
    # Sleeps end within 1 µs of their deadline instead of within the default 50 µs; threads inherit this.
    _libc.prctl(_PR_SET_TIMERSLACK, 1000, 0, 0, 0)


def open(_readonly: bool) -> int:
    return 1


def get_size(_handle: int) -> int:
    return _served.size


def block_size(_handle: int) -> tuple[int, int, int]:
    return (1, _BLOCK_BYTES, _MOST_BYTES)


def is_rotational(_handle: int) -> bool:
    return _served.model.rotational


def can_multi_conn(_handle: int) -> bool:
    return True


def can_fua(_handle: int) -> int:
    return int(nbdkit.FUA_NATIVE)


def pread(_handle: int, buffer: bytearray, offset: int, _flags: int) -> None:
    done = _served.completion(lambda now_s: _served.model.read(now_s, offset, len(buffer)))
    _read_store(buffer, offset)
    _wait_until(done)


def pwrite(_handle: int, buffer: bytes, offset: int, flags: int) -> None:
    durable = bool(flags & nbdkit.FLAG_FUA)
    done = _served.completion(lambda now_s: _served.model.write(now_s, offset, len(buffer), durable))
    _write_store(buffer, offset)
    _wait_until(done)


def flush(_handle: int, _flags: int) -> None:
    _wait_until(_served.completion(_served.model.flush))


def trim(_handle: int, count: int, offset: int, _flags: int) -> None:
    """Punch a hole in the store, for a trim or to write zeros. This takes no emulated time.

    A real disk would only update its tables. Raises an OSError if the hole cannot be punched.
    """
    if _libc.fallocate(_served.store, _PUNCH_HOLE_KEEP_SIZE, offset, count) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


zero = trim


def _read_store(buffer: bytearray, offset: int) -> None:
    view = memoryview(buffer)
    while view:
        count = os.preadv(_served.store, [view], offset)
        if count == 0:
            raise OSError("the store is shorter than the disk")
        view, offset = view[count:], offset + count


def _write_store(buffer: bytes, offset: int) -> None:
    view = memoryview(buffer)
    while view:
        count = os.pwrite(_served.store, view, offset)
        view, offset = view[count:], offset + count


def _wait_until(done_s: float) -> None:
    """Sleep until the reply must be sent so that it reaches the caller at `done_s`."""
    while (remaining := done_s - _served.half_pipeline_s - time.monotonic()) > 0:
        time.sleep(remaining)
