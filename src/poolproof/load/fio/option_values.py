"""Find option values that fio rejects or silently misreads, without running fio.

fio accepts any word as an engine while parsing. A run with an unknown engine fails only when it starts. Sources: `fio
--cmdhelp=OPTION` for types and keywords, `fio --enghelp` and fio's engines/ folder for engines. Rejections were tested
with `fio --parse-only` of fio 3.33.
"""

import re

from poolproof.load.fio.option_names import JOB_OPTIONS, JOB_SWITCHES, names_in, nearest
from poolproof.load.fio.quantity import attempt, parse_block_sizes, parse_bytes, parse_percent, parse_time_us

RW_WORDS = (
    "read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "readwrite", "randrw", "trimwrite",
    "randtrimwrite",
)  # fmt: skip

ENGINE_WORDS = names_in("""
aio cpp_null cpuio dev-dax dfs dircreate dirdelete dirstat e4defrag exec external falloc filecreate filedelete
fileoperations filestat ftruncate gfapi gfapi_async guasi http ime_aio ime_psync ime_psyncv io_uring io_uring_cmd
libaio libblkio libcufile libhdfs libhipfile libiscsi libpmem libpmem2 librpma_apm_client librpma_apm_server
librpma_gpspm_client librpma_gpspm_server libzbc linuxaio mmap mtd nbd net netsplice nfs null page_fault pmemblk
posixaio psync pvsync pvsync2 rados rbd rdma rpma_apm rpma_gpspm sg solarisaio splice sync syslet-rw vsync windowsaio
xnvme
""")

_SWITCHES = names_in("""
allow_file_create allow_mounted_write allrandrepeat atomic block_error_percentiles buffered cgroup_nodelete
clat_percentiles create_fsync create_on_open create_only create_serialize dedupe_global direct disable_bw_measurement
disable_clat disable_lat disable_slat disk_util do_verify end_fsync error_dump experimental_verify file_append
fill_device fsync_on_close gtod_reduce invalidate lat_percentiles overwrite pre_read randrepeat scramble_buffers
serialize_overlap slat_percentiles stats unique_filename unlink unlink_each_loop verify_dump verify_fatal
""")

_BARE_SWITCHES = JOB_SWITCHES & JOB_OPTIONS - {"bs_unaligned"}
_COUNTS = names_in("""
buffer_compress_percentage dedupe_percentage fdatasync fsync iodepth iodepth_batch iodepth_batch_complete_max
iodepth_batch_complete_min iodepth_low loops nrfiles numjobs openfiles percentage_random rwmixread rwmixwrite
""")

_SIZES = frozenset({"io_size", "offset", "offset_increment", "size"})
_TIMES = frozenset({"ramp_time", "runtime", "startdelay"})
_BOOLEANS = {"yes": "1", "true": "1", "on": "1", "no": "0", "false": "0", "off": "0"}
_TWO_WORDS = re.compile(r"^\s*+[+-]?[\d.]++\S*+\s++\S")
_LONGEST = 60
_SIMILAR = 0.6


def refusal(name: str, value: str) -> str | None:
    """Return the reason why fio rejects or misreads a value, or None if it accepts the value or the option is unknown.

    `name`: the option's canonical name.
    `value`: the value with all variables expanded. An unexpanded variable such as `${SIZE}` would be rejected.
    """
    word = value.strip()
    shown = f"{name}={word[:_LONGEST]}"
    if name in ("rw", "ioengine") and value[:1].isspace():
        return f"{name}={value[:_LONGEST]}: fio refuses the space after `=`"
    if name == "rw":
        return _word_refusal(word.partition(":")[0].rstrip())
    if name == "ioengine":
        return _engine_refusal(word, shown)
    if name in _SWITCHES or (name in _BARE_SWITCHES and word):
        return _switch_refusal(name, word, shown)
    if name == "bs":
        # fio ignores an invalid second size (`bs=4k,zebra`), but it is always a mistake.
        accepted, is_valid = "sizes such as 4k", attempt(parse_block_sizes, value) is not None
    elif name in _COUNTS:
        # Some options accept a negative number, but only fio knows which.
        number = value.split(",")[0].strip().lstrip("-")
        accepted, is_valid = "a whole number", attempt(parse_bytes, number) is not None
    elif name in _SIZES:
        accepted, is_valid = "a size such as 10g or 50%", _is_size(word)
    elif name in _TIMES:
        accepted, is_valid = "a time such as 60s", attempt(parse_time_us, value) is not None
    else:
        return None
    if not is_valid:
        return f"{shown}: the option takes {accepted}"
    if _TWO_WORDS.match(value):
        return f"{shown}: the option takes {accepted}; fio reads the number and silently ignores the rest"
    return None


def _word_refusal(word: str) -> str | None:
    if word in RW_WORDS:
        return None
    near = nearest(word.lower()[:_LONGEST], RW_WORDS, _SIMILAR)
    hint = f"did you mean `{near}`?" if near else f"rw takes one of {', '.join(RW_WORDS)}"
    return f"rw={word[:_LONGEST]}: fio has no such I/O pattern; {hint}"


_PRELOADED = frozenset({"spdk", "spdk_bdev"})


def is_external(engine: str) -> bool:
    """True for the path of an engine that is not part of fio, or the name of one that SPDK preloads (LD_PRELOAD)."""
    word = engine.partition(":")[0]
    return word == "external" or word in _PRELOADED or "/" in engine or engine.endswith(".so")


def _engine_refusal(value: str, shown: str) -> str | None:
    word = value.partition(":")[0].partition(",")[0].rstrip()
    if word in ENGINE_WORDS or is_external(value):
        return None
    near = nearest(word.lower()[:_LONGEST], ENGINE_WORDS, _SIMILAR)
    return f"{shown}: fio has no such engine; " + (
        f"did you mean `{near}`?" if near else "`fio --enghelp` lists the available engines"
    )


def _switch_refusal(name: str, word: str, shown: str) -> str | None:
    number = attempt(parse_bytes, word)
    if number is not None and (number <= 1 or name in _BARE_SWITCHES):
        return None
    right = _BOOLEANS.get(word.lower())
    hint = f"did you mean `{name}={right}`?" if right else f"write `{name}=1` or `{name}=0`"
    return f"{shown}: the option takes 0 or 1; {hint}"


def _is_size(text: str) -> bool:
    """True for a number of bytes, a percentage or a number of zones.

    A negative number is valid too: fio counts it from the end of the file.
    """
    text = text.removesuffix("z")
    return parse_percent(text) is not None or attempt(parse_bytes, text.lstrip("-")) is not None
