"""The names of fio's options and engines, used to parse jobs and command lines without running fio.

Source: `fio --cmdhelp=all`, `fio --cmdhelp=OPTION`, `fio --enghelp=ENGINE` and `fio --help` of fio 3.33, and the HOWTO
and options.c, engines/ and profiles/ of other releases up to fio 3.42 and commit f5344384 of August 2026. For the
options of a host's own fio, see `installed.py`.
"""

import difflib
import re
from collections.abc import Collection, Mapping
from functools import lru_cache


def names_in(text: str) -> frozenset[str]:
    """Return the set of words in a string."""
    return frozenset(text.split())


_ALIASES = """
readwrite=rw blocksize=bs blockalign=ba blocksize_range=bsrange blocksize_unaligned=bs_unaligned
iodepth_batch_submit=iodepth_batch iodepth_batch_complete=iodepth_batch_complete_min io_limit=io_size
fill_fs=fill_device fileoffset=offset nr_files=nrfiles timeout=runtime iomem=mem ratemin=rate_min ratecycle=rate_cycle
wait_for_previous=stonewall disable_bw=disable_bw_measurement ss=steadystate ss_dur=steadystate_duration
ss_ramp=steadystate_ramp_time ss_interval=steadystate_check_interval mem_align=iomem_align
data_placement=dataplacement
"""
ALIASES: Mapping[str, str] = dict(re.findall(r"(\S+)=(\S+)", _ALIASES))
"""The canonical option names, keyed by alias, according to the `alias` lines in fio's options.c."""

JOB_OPTIONS = names_in("""
allow_file_create allow_mounted_write allrandrepeat atomic ba block_error_percentiles bs bs_is_seq_rand bs_unaligned
bsrange bssplit buffer_compress_chunk buffer_compress_percentage buffer_pattern buffered bwavgtime cgroup
cgroup_nodelete cgroup_weight clat_percentiles clocksource continue_on_error cpumask cpus_allowed cpus_allowed_policy
create_fsync create_on_open create_only create_serialize dedupe_global dedupe_mode dedupe_percentage
dedupe_working_set_percentage description direct directory disable_bw_measurement disable_clat disable_lat
disable_slat disk_util do_verify end_fsync error_dump exec_postrun exec_prerun exit_what exitall exitall_on_error
experimental_verify fadvise_hint fallocate fdatasync file_append file_service_type filename filename_format filesize
fill_device flow flow_id flow_sleep flow_watermark fsync fsync_on_close gid group_reporting gtod_cpu gtod_reduce
hugepage-size ignore_error ignore_zone_limits invalidate io_size io_submit_mode iodepth iodepth_batch
iodepth_batch_complete_max iodepth_batch_complete_min iodepth_low ioengine iomem_align iopsavgtime ioscheduler
job_max_open_zones kb_base lat_percentiles latency_percentile latency_run latency_target latency_window lockfile
lockmem log_alternate_epoch log_alternate_epoch_clock_id log_avg_msec log_compression log_compression_cpus log_entries
log_hist_coarseness log_hist_msec log_max_value log_offset log_prio log_store_compressed log_unix_epoch loops
max_latency max_open_zones mem merge_blktrace_file merge_blktrace_iters merge_blktrace_scalars name new_group nice
norandommap nrfiles numa_cpu_nodes numa_mem_policy number_ios numjobs offset offset_align offset_increment opendir
openfiles overwrite per_job_logs percentage_random percentile_list pre_read prio prioclass profile ramp_time
random_distribution random_generator randrepeat randseed rate rate_cycle rate_ignore_thinktime rate_iops rate_iops_min
rate_min rate_process read_beyond_wp read_iolog read_iolog_chunked refill_buffers replay_align replay_no_stall
replay_redirect replay_scale replay_skip replay_time_scale runtime rw rw_sequencer rwmixread rwmixwrite
scramble_buffers serialize_overlap significant_figures size slat_percentiles startdelay stats steadystate
steadystate_duration steadystate_ramp_time stonewall sync sync_file_range thinktime thinktime_blocks
thinktime_blocks_type thinktime_iotime thinktime_spin thread time_based trim_backlog trim_backlog_batch
trim_percentage trim_verify_zero uid unified_rw_reporting unique_filename unit_base unlink unlink_each_loop verify
verify_async verify_async_cpus verify_backlog verify_backlog_batch verify_dump verify_fatal verify_interval
verify_offset verify_only verify_pattern verify_state_load verify_state_save verifysort verifysort_nr wait_for
write_barrier write_bw_log write_hint write_hist_log write_iolog write_iops_log write_lat_log zero_buffers
zone_reset_frequency zone_reset_threshold zonecapacity zonemode zonerange zonesize zoneskip
""")

ENGINE_OPTIONS = names_in("""
arguments bindname brick busy_poll clientname clustername cmd_type cmdprio cmdprio_bssplit cmdprio_class
cmdprio_percentage conf cpuchunks cpuload cpumode donorname exit_on_io_done fixedbufs force_async grace_time hipri
hipri_percentage hostname inplace interface listen mss nodelay nonvectored nowait pingpong pool port program protocol
rbdname readfua registerfiles sg_write_mode single-instance skip_bad sqthread_poll sqthread_poll_cpu stat_type
std_redirect stream_id thp touch_objects ttl uncached uri userspace_reap verb volume window_size writefua
""")

OTHER_RELEASES = names_in("""
apptag apptag_mask block busy_wait_polling cdb_len chunk_size cmdprio_hint comm cont container_uuid cpu_nodes cpuchunks
cuda_io dataplacement deac device-names dir direct_io direct_write_to_pmem dp_scheme dummy end_syncfs fdp fdp_pli
fdp_pli_select file_service filetype gpu_dev_id gpu_dev_ids hdfs_use_direct hdfsdirectory http_host http_mode
http_object_mode http_pass http_s3_key http_s3_keyid http_s3_region http_s3_security_token
http_s3_sse_customer_algorithm http_s3_sse_customer_key http_s3_storage_class http_swift_auth_token http_user
http_verbose https initiator iodepth_mode job_start_clock_id large-block-op-kbytes libaio_vectored libblkio_driver
libblkio_force_enable_completion_eventfd libblkio_num_entries libblkio_path libblkio_pre_connect_props
libblkio_pre_start_props libblkio_queue_size libblkio_vectored libblkio_wait_mode libblkio_write_zeroes_on_trim load
log_issue_time log_window_value md_per_io_size mss namenode nfs_url no_completion_thread num_range numruns
object_class pi_act pi_chk plid_select plids pool_uuid prep priohint ramp_size random_sequence_stride
rbd_encryption_format rbd_encryption_passphrase read-req-num-512-blocks read_mode readfua recover_zbd_write_error
rocm_io rwmixcycle s3_sse serverip single_instance softrandommap spr_cache_size spr_cs spr_num_regions spr_op sprandom
steadystate_check_interval svcl test-duration thinkcycles threads threads-per-queue use_os_rand verify_bytchk
verify_header_seed verify_mode verify_pattern_interval verify_policy verify_write_sequence write_mode
write_zone_remainder writefua xattr_count xattr_size xnvme_admin xnvme_async xnvme_be xnvme_dev_nsid xnvme_dev_subnqn
xnvme_iovec xnvme_mem xnvme_sync
""")
"""Options of other fio releases, and the options of `--profile`, which fio accepts on every command line."""

PROGRAM_OPTIONS = names_in("""
alloc-size append-terse aux-path bandwidth-log client cmdhelp cpuclock-test crctest daemonize debug enghelp eta
eta-interval eta-newline help idle-prof inflate-log latency-log max-jobs memcpytest merge-blktrace-only minimal output
output-format parse-only profile readonly remote-config section server showcmd status-interval terse-version trigger
trigger-file trigger-remote trigger-timeout version warnings-fatal
""")
"""Options for fio itself, which cannot be set in a job."""

PROGRAM_SWITCHES = names_in("""
append-terse bandwidth-log cmdhelp cpuclock-test crctest enghelp help latency-log memcpytest merge-blktrace-only
minimal parse-only readonly server showcmd version warnings-fatal
""")
"""Options for fio itself that take no value, or only a value after `=`."""

SHORT_OPTIONS: Mapping[str, tuple[str, bool]] = {
    letter: (name, takes_value)
    for takes_value, listed in (
        (
            True,
            "o=output l=latency-log F=output-format e=eta O=eta-interval E=eta-newline d=debug x=section X=inflate-log "
            "a=alloc-size p=profile j=max-jobs V=terse-version N=server-internal D=daemonize C=client R=remote-config "
            "I=idle-prof L=status-interval W=trigger-file B=trigger-timeout H=trigger J=trigger-remote K=aux-path "
            "f=append-terse c=cmdhelp i=enghelp S=server G=crctest M=memcpytest",
        ),
        (
            False,
            "b=bandwidth-log m=minimal v=version h=help s=showcmd r=readonly P=parse-only w=warnings-fatal "
            "T=cpuclock-test A=merge-blktrace-only",
        ),
    )
    for letter, name in (each.split("=") for each in listed.split())
}
"""fio's single-letter options. Each letter is mapped to (option name, True if the option takes a value).

The rest of the word is the value. Source: l_opts and fio_init_options in init.c of fio 3.33.
"""

JOB_SWITCHES = names_in("""
bs_unaligned exitall exitall_on_error fixedbufs force_async group_reporting hipri new_group nonvectored norandommap
nowait refill_buffers registerfiles sqthread_poll stonewall thread time_based uncached userspace_reap verify_only
zero_buffers
""")
"""Job options that can be set without a value. On a command line, a value must be attached with `=`."""

ALL_NAMES = JOB_OPTIONS | ENGINE_OPTIONS | OTHER_RELEASES | frozenset(ALIASES)

DEFAULT_ENGINE = "psync"
DEFAULT_ENGINE_ON_WINDOWS = "windowsaio"

SYNCHRONOUS = names_in("""
cpuio dev-dax dircreate dirdelete dirstat e4defrag exec falloc filecreate filedelete fileoperations filestat ftruncate
gfapi http ime_psync ime_psyncv libcufile libhdfs libhipfile libpmem libzbc mmap mtd net netsplice page_fault pmemblk
psync pvsync pvsync2 splice sync vsync
""")
"""Engines that wait for each I/O (FIO_SYNCIO in engines/), so that their queue depth is 1.

Only `io_submit_mode=offload` increases the depth.
"""

PAGE_CACHE = names_in("""
io_uring libaio mmap posixaio psync pvsync pvsync2 splice sync vsync windowsaio
""")
"""Engines that make ordinary file and block device calls, so that the page cache may serve their I/O."""


def canonical(name: str) -> str:
    """Return an option's canonical name. A name that is not an alias is returned unchanged."""
    return ALIASES.get(name, name)


def engine_name(value: str) -> str:
    """Return the engine selected by a value of `ioengine=`, e.g. `external` for `external:/some/path.so`."""
    word = value.strip()
    return {"linuxaio": "libaio", "aio": "libaio"}.get(word, word.partition(":")[0])


def resolve(name: str, among: frozenset[str] = ALL_NAMES) -> str | None:
    """Return the canonical name for a name, alias or unambiguous prefix, or None if fio has no such option.

    If a prefix is ambiguous, options of other releases are ignored, and then those of engines, because fio's main
    option list does not contain them.
    """
    if name in among:
        return canonical(name)
    fitting = {candidate for candidate in among if candidate.startswith(name)} if name else set()
    here = fitting - OTHER_RELEASES
    for candidates in (fitting, here, here - ENGINE_OPTIONS):
        first_names = set(map(canonical, candidates))
        if len(first_names) == 1:
            return first_names.pop()
    return None


@lru_cache(maxsize=1024)
def nearest(name: str, among: Collection[str], cutoff: float) -> str | None:
    """Return the known name that is most similar to a misspelled one, or None if none is similar enough."""
    near = difflib.get_close_matches(name, among, n=1, cutoff=cutoff)
    return near[0] if near else None
