"""Values that fio refuses, or reads as something that no one meant, told without a fio at hand.

Source: `fio --cmdhelp=OPTION` for the types and words, `fio --enghelp` and the engines/ folder of fio for the engines;
what is refused was measured with `fio --parse-only` of fio 3.33. That fio takes any word for an engine while it parses,
and ends when the run starts.
"""

import difflib
import re

from poolproof.load.fio.quantity import attempt, parse_block_sizes, parse_bytes, parse_percent, parse_time_us

RW_WORDS = (
    "read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "readwrite", "randrw", "trimwrite",
    "randtrimwrite",
)  # fmt: skip

ENGINE_WORDS = (
    "aio", "cpp_null", "cpuio", "dev-dax", "dfs", "dircreate", "dirdelete", "dirstat", "e4defrag", "exec",
    "external", "falloc",
    "filecreate", "filedelete", "fileoperations", "filestat", "ftruncate", "gfapi", "gfapi_async", "guasi", "http",
    "ime_aio", "ime_psync", "ime_psyncv", "io_uring", "io_uring_cmd", "libaio", "libblkio", "libcufile", "libhdfs",
    "libhipfile", "libiscsi", "libpmem", "libpmem2", "libzbc", "linuxaio", "mmap", "mtd", "nbd", "net", "netsplice",
    "nfs", "null", "pmemblk", "posixaio", "psync", "pvsync", "pvsync2", "rados", "rbd", "rdma", "rpma_apm",
    "librpma_apm_client", "librpma_apm_server", "librpma_gpspm_client", "librpma_gpspm_server", "rpma_gpspm", "sg",
    "solarisaio", "splice", "sync", "syslet-rw", "vsync", "windowsaio", "xnvme",
)  # fmt: skip

_SWITCHES = frozenset({
    "allow_file_create", "allow_mounted_write", "allrandrepeat", "atomic", "block_error_percentiles", "buffered",
    "cgroup_nodelete", "clat_percentiles", "create_fsync", "create_on_open", "create_only", "create_serialize",
    "dedupe_global", "direct", "disable_bw_measurement", "disable_clat", "disable_lat", "disable_slat", "disk_util",
    "do_verify", "end_fsync", "error_dump", "experimental_verify", "file_append", "fill_device", "fsync_on_close",
    "gtod_reduce", "invalidate", "lat_percentiles", "overwrite", "pre_read", "randrepeat", "scramble_buffers",
    "serialize_overlap", "slat_percentiles", "stats", "unique_filename", "unlink", "unlink_each_loop", "verify_dump",
    "verify_fatal",
})  # fmt: skip
_BARE_SWITCHES = frozenset({
    "exitall", "exitall_on_error", "group_reporting", "new_group", "norandommap", "refill_buffers", "stonewall",
    "thread", "time_based", "verify_only", "zero_buffers",
})  # fmt: skip
_COUNTS = frozenset({
    "dedupe_percentage", "fdatasync", "fsync", "iodepth", "iodepth_batch", "iodepth_batch_complete_max",
    "iodepth_batch_complete_min", "iodepth_low", "loops", "nrfiles", "numjobs", "openfiles", "percentage_random",
    "rwmixread", "rwmixwrite", "buffer_compress_percentage",
})  # fmt: skip
_SIZES = frozenset({"io_size", "offset", "offset_increment", "size"})
_TIMES = frozenset({"ramp_time", "runtime", "startdelay"})
_TWO_WORDS = re.compile(r"\s*[+-]?[\d.]+\s*\S*\s+\S")
_LONGEST = 60


def refusal(name: str, value: str) -> str | None:
    """Why the value of the option with this first name cannot stand; None where it can, or is not judged here.

    Variables are to be filled in before: `${SIZE}` is no size.
    """
    word = value.strip()
    if name == "rw":
        return _of_words("rw", word.partition(":")[0].rstrip(), RW_WORDS)
    if name == "ioengine":
        return _of_engine(word)
    if name in _SWITCHES or (name in _BARE_SWITCHES and word):
        return _of_switch(name, word)
    if name == "bs":
        return _of_number(name, value, "sizes such as 4k", attempt(_every_block_size, value) is not None)
    if name in _COUNTS:
        return _of_number(name, value, "a whole number", attempt(_first_number, value) is not None)
    if name in _SIZES:
        return _of_number(name, value, "a size such as 10g or 50%", _is_size(value))
    if name in _TIMES:
        return _of_number(name, value, "a time such as 60s", attempt(parse_time_us, value) is not None)
    return None


def _of_words(name: str, word: str, words: tuple[str, ...]) -> str | None:
    if word in words:
        return None
    near = difflib.get_close_matches(word.lower()[:_LONGEST], words, n=1, cutoff=0.6)
    hint = f"did you mean `{near[0]}`?" if near else f"it takes one of {', '.join(words)}"
    return f"{_shown(name, word)}: fio has no such {name}; {hint}"


def _of_engine(value: str) -> str | None:
    """A path names an engine of one's own."""
    word = value.partition(":")[0].partition(",")[0].rstrip()
    if word in ENGINE_WORDS or "/" in value or value.endswith(".so"):
        return None
    near = difflib.get_close_matches(word.lower()[:_LONGEST], ENGINE_WORDS, n=1, cutoff=0.6)
    hint = f"did you mean `{near[0]}`?" if near else "`fio --enghelp` lists the engines it has"
    return f"{_shown('ioengine', value)}: fio has no such engine; {hint}"


def _of_switch(name: str, word: str) -> str | None:
    number = attempt(parse_bytes, word)
    if number is not None and (number <= 1 or name in _BARE_SWITCHES):
        return None
    right = {"yes": "1", "true": "1", "on": "1", "no": "0", "false": "0", "off": "0"}.get(word.lower())
    return f"{_shown(name, word)}: it takes 0 or 1; " + (
        f"did you mean `{name}={right}`?" if right else f"write `{name}=1` or `{name}=0`"
    )


def _of_number(name: str, value: str, wanted: str, is_one: bool) -> str | None:
    if not is_one:
        return f"{_shown(name, value)}: it takes {wanted}"
    if _TWO_WORDS.match(value):
        return f"{_shown(name, value)}: it takes {wanted}; fio reads the number and drops the rest without a word"
    return None


def _every_block_size(value: str) -> bool:
    """fio itself passes over a second size that is none (`bs=4k,zebra`), which no one means."""
    parse_block_sizes(value)
    return True


def _first_number(value: str) -> int:
    """A negative one is for fio to judge by the option."""
    return parse_bytes(value.split(",")[0].strip().lstrip("-"))


def _is_size(value: str) -> bool:
    """Bytes, per cents, or zones of a zoned device; a negative one counts from the end."""
    text = value.strip()
    if text.endswith("z"):
        text = text[:-1]
    return parse_percent(text) is not None or attempt(parse_bytes, text.lstrip("-")) is not None


def _shown(name: str, value: str) -> str:
    return f"{name}={value.strip()[:_LONGEST]}"
