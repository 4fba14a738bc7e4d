"""The fio options and values that a campaign may set. None of them may name a file outside the layout.

A campaign is often written by someone else, and it runs as root. Each option must therefore be in one of the lists
below. Any other option is rejected even if the host's fio supports it, because it might open a file. fio starts in the
run's scratch directory. A file name without a directory, as in `write_lat_log=x`, is created there.

Sources: options.c and engines/*.c of fio 3.6 to 3.42, from which `tests/unit/load/fio/captured/option-types.txt` was
made. A test checks that each option in that file is in exactly one list, and that each string option has a grammar.
"""

import re
from collections.abc import Collection, Mapping

from poolproof.campaign.external_engine import FLAG, external, external_path, is_engine_path
from poolproof.campaign.names import listed
from poolproof.load.fio.job import REPLACED
from poolproof.load.fio.option_names import names_in
from poolproof.load.fio.option_values import is_external

ENGINES = names_in("""
aio cpuio dircreate dirdelete dirstat e4defrag falloc filecreate filedelete fileoperations filestat ftruncate io_uring
io_uring_cmd libaio libpmem linuxaio libzbc mmap mtd null posixaio psync pvsync pvsync2 sg splice sync vsync
""")
"""Engines that use only the files and devices named by the job.

Other names are not permitted, because fio loads an engine that it does not know as a library.
"""

_STARTS = "starts a program"
_MACHINE = "changes the machine in a way that poolproof cannot undo"
REFUSED: Mapping[str, str] = {
    "opendir": "adds files that are outside the layout",
    "read_iolog": "replays a log that names other files and devices",
    "replay_redirect": "names a device that is not part of the layout",
    "merge_blktrace_file": "writes a file outside the layout",
    "exec_prerun": _STARTS,
    "exec_postrun": _STARTS,
    "allow_mounted_write": "permits writes to a mounted device",
    "profile": "replaces the workload with a built-in one, which may name other files",
    "donorname": "names a file outside the layout",
    "ioscheduler": _MACHINE,
    **dict.fromkeys(("cgroup", "cgroup_nodelete", "cgroup_weight"), _MACHINE),
    "comm": "hides fio from `poolproof clean`, which finds it by name",
    **dict.fromkeys(("uid", "gid"), "lets fio run as another user"),
    "directory": "is set by poolproof, to put the files on each layout",
    "dp_scheme": "names a file outside the layout",
}
"""The options that no campaign may set, each with the reason."""

PLAIN = names_in("""
allow_file_create allrandrepeat apptag apptag_mask atomic ba block_error_percentiles bs bs_is_seq_rand bs_unaligned
bsrange buffer_compress_chunk buffer_compress_percentage buffered bwavgtime clat_percentiles clocksource cmd_type
cmdprio cmdprio_class cmdprio_percentage continue_on_error cpuchunks cpuload cpumask cpumode cpus_allowed
cpus_allowed_policy create_fsync create_on_open create_only create_serialize dataplacement deac dedupe_global
dedupe_mode dedupe_percentage dedupe_working_set_percentage direct disable_bw_measurement disable_clat disable_lat
disable_slat disk_util do_verify end_fsync end_syncfs error_dump exit_on_io_done exit_what exitall exitall_on_error
experimental_verify fadvise_hint fallocate fdatasync fdp fdp_pli fdp_pli_select file_append file_service_type filesize
filetype fill_device fixedbufs flow flow_id flow_sleep flow_watermark force_async fsync fsync_on_close group_reporting
gtod_cpu gtod_reduce hipri hipri_percentage hugepage-size ignore_error ignore_zone_limits inplace invalidate io_size
io_submit_mode iodepth iodepth_batch iodepth_batch_complete_max iodepth_batch_complete_min iodepth_low iomem_align
iopsavgtime job_max_open_zones job_start_clock_id kb_base lat_percentiles latency_percentile latency_run
latency_target latency_window libaio_vectored lockfile lockmem log_alternate_epoch log_alternate_epoch_clock_id
log_avg_msec log_compression log_compression_cpus log_entries log_hist_coarseness log_hist_msec log_issue_time
log_max_value log_offset log_prio log_store_compressed log_unix_epoch log_window_value loops max_latency
max_open_zones md_per_io_size merge_blktrace_iters merge_blktrace_scalars new_group nice nonvectored norandommap
nowait nrfiles num_range numa_cpu_nodes numa_mem_policy number_ios numjobs offset offset_align offset_increment
openfiles overwrite per_job_logs percentage_random percentage_sequential percentile_list pi_act pi_chk plid_select
plids pre_read prio prioclass priohint ramp_size ramp_time random_generator randrepeat randseed rate rate_cycle
rate_ignore_thinktime rate_iops rate_iops_min rate_min rate_process read_beyond_wp read_iolog_chunked readfua
recover_zbd_write_error refill_buffers registerfiles replay_align replay_no_stall replay_scale replay_skip
replay_time_scale runtime rw rw_sequencer rwmixcycle rwmixread rwmixwrite scramble_buffers serialize_overlap
sg_write_mode significant_figures size skip_bad slat_percentiles softrandommap spr_cs spr_num_regions spr_op sprandom
sqthread_poll sqthread_poll_cpu startdelay stat_type stats steadystate steadystate_check_interval steadystate_duration
steadystate_ramp_time stonewall stream_id sync sync_file_range thinkcycles thinktime thinktime_blocks
thinktime_blocks_type thinktime_iotime thinktime_spin thp thread time_based trim_backlog trim_backlog_batch
trim_percentage trim_verify_zero uncached unified_rw_reporting unique_filename unit_base unlink unlink_each_loop
use_os_rand userspace_reap verify verify_async_cpus verify_backlog verify_backlog_batch verify_dump
verify_fatal verify_header_seed verify_interval verify_mode verify_offset verify_only verify_pattern_interval
verify_state_load verify_state_save verify_write_sequence verifysort verifysort_nr wait_for write_barrier write_hint
write_mode write_zone_remainder writefua zero_buffers zone_reset_frequency zone_reset_threshold zonecapacity zonemode
zonerange zonesize zoneskip
""")
"""Options whose value is a number, a switch or a keyword. Values that contain `/` or a quote are rejected."""

_MEMORY = names_in("malloc mmap mmapshared mmaphuge cudamalloc")
_SEGMENTS = {"shm": "mmap", "shmhuge": "mmaphuge"}
"""Kinds of memory that stay allocated if fio is killed (System V segments), each with a kind that does not."""

_NUMBERS = re.compile(r"[\w.,:%+ -]*")
_SHARES = re.compile(r"[\w.,:%+ /-]*")
_LOG_NAME = re.compile(r"\w[\w.-]*")
# fio appends a trace to an existing file. The names of poolproof's own files there, such as owner.json, contain a dot.
# fio adds `_bw.1.log` or a similar ending to the names of other logs.
_TRACE_NAME = re.compile(r"\w[\w-]*(?:\.iolog)?")
_FILE_NAME = re.compile(r"[^'\"]*")
# fio replaces these keywords until none is left, even in a job name that it has inserted, and regardless of case
# (init.c, make_filename). `$clientuid` is empty, so fio would turn `..$clientuid/x` into `../x`, outside the layout.
_FORMAT = re.compile(r"(?:[^'\"$]|\$(?:jobname|jobnum|filenum))*")
GRAMMARS: Mapping[str, tuple[re.Pattern[str], str]] = {
    **dict.fromkeys(
        ("bssplit", "cmdprio_bssplit", "random_distribution"), (_SHARES, "numbers, such as 4k/40:64k/60, or zipf:1.2")
    ),
    **dict.fromkeys(
        ("verify_pattern", "buffer_pattern"),
        (re.compile(r"[^'/]*"), "a number such as 0xdeadbeef, or text in double quotes (\"…\"); '…' names a file"),
    ),
    "description": (re.compile(".*"), "text"),
    "name": (re.compile(r"\A[^\w/$]*\w[^/$]*"), "a name that contains a letter or a digit, without `/` and `$`"),
    **dict.fromkeys(
        ("write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"),
        (_LOG_NAME, "a file name without a directory; the file is removed with the trial's scratch directory"),
    ),
    "write_iolog": (_TRACE_NAME, "a file name without a directory and without dots, or with the ending .iolog"),
    "filename": (_FILE_NAME, "a file name on the layout"),
    "filename_format": (
        _FORMAT,
        "a file name on the layout, in which only $jobname, $jobnum and $filenum begin with $",
    ),
    "ioengine": (re.compile("|".join(sorted(ENGINES))), "an engine"),
    "verify_async": (re.compile(r"\d{1,3}"), "a number of at most 999"),
    "mem": (
        re.compile("|".join(sorted(_MEMORY))),
        "malloc, mmap, mmapshared or mmaphuge, without a file",
    ),
}
"""The other options that a campaign may set, each with a pattern for its permitted values and their description."""


def runs_code(option: str, value: str) -> bool:
    """True if fio would start another program, or load an engine from a file."""
    return REFUSED.get(option) == _STARTS or (option == "ioengine" and (value == "exec" or is_external(value)))


def is_known(option: str) -> bool:
    return option in REFUSED or option in PLAIN or option in GRAMMARS


def refusal(option: str, value: str, engines: Collection[str] = ()) -> tuple[str, str] | None:
    """Return the reason why a campaign may not set an option to a value, with a suggestion, or None if it may.

    `option`: a canonical name that the host's fio has.
    `engines`: the paths of external I/O engines that the user allowed on the command line.
    """
    if option == "ioengine" and value.strip() in map(external, engines):
        return None
    if option in REFUSED:
        return f"`{option}` {REFUSED[option]}", f"remove `{option}` from the workload"
    if not is_known(option):
        message = f"`{option}` is an option of this host's fio that poolproof does not know; it might name a file"
        return message, f"remove `{option}`, or use a newer poolproof"
    shown = f"`{option}={value[:80]}`"
    if REPLACED.search(value):  # even in a description, because the value could be a secret, and the results contain it
        return (
            f"{shown}: fio would replace the variable, so poolproof could not check the value",
            "write the value itself, without a variable",
        )
    pattern, expected = GRAMMARS.get(option, (_NUMBERS, "a number or one of fio's keywords"))
    if pattern.fullmatch(value.strip()):
        return None
    if option == "ioengine":
        return _engine_refusal(value.strip(), shown)
    if option == "mem" and (instead := _SEGMENTS.get(value.strip())):
        return f"{shown}: if fio is killed, its shared memory segment stays in RAM", f"use mem={instead}"
    if option == "verify_async":
        return f"{shown}: more than 999 threads could exhaust those of the machine", f"write {expected}"
    return f"{shown} may name a file outside the layout", f"write {expected}"


def _engine_refusal(engine: str, shown: str) -> tuple[str, str]:
    path = external_path(engine)
    if path is not None and is_engine_path(path):
        fix = f"if you trust that file, allow it on the command line: {FLAG} {path}"
        return f"{shown} loads code from a file", fix
    if path is not None or "/" in engine or engine.endswith(".so") or engine == "external":
        return f"{shown} loads code from a file", "use an engine that is part of fio, such as libaio or io_uring"
    if engine == "exec":
        return f"{shown} starts a program", "use an engine that reads and writes files, such as libaio or io_uring"
    if engine in ("net", "netsplice"):
        return f"{shown} sends its data over a network", "use libaio or io_uring"
    message = f"{shown} is not an engine that uses only the files of the layout"
    return message, f"use {listed(sorted(ENGINES))}"
