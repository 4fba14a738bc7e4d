"""The names of fio's options, for reading jobs and command lines where no fio is at hand.

Source: `fio --cmdhelp=all`, `fio --enghelp=ENGINE` and `fio --help` of fio 3.33; the HOWTO of other releases for
the rest. What the installed fio knows is asked of itself, in `options.py`.
"""

_JOB_OPTIONS = """
allow_file_create allow_mounted_write allrandrepeat atomic ba block_error_percentiles bs bs_unaligned bsrange
bssplit buffer_compress_chunk buffer_compress_percentage buffer_pattern buffered bwavgtime cgroup
cgroup_nodelete cgroup_weight clat_percentiles clocksource continue_on_error cpumask cpus_allowed
cpus_allowed_policy create_fsync create_on_open create_only create_serialize dedupe_global dedupe_mode
dedupe_percentage dedupe_working_set_percentage description direct directory disable_bw_measurement disable_clat
disable_lat disable_slat disk_util do_verify end_fsync error_dump exec_postrun exec_prerun exit_what exitall
exitall_on_error experimental_verify fadvise_hint fallocate fdatasync file_append file_service_type filename
filename_format filesize fill_device flow flow_id flow_sleep fsync fsync_on_close gid group_reporting gtod_cpu
gtod_reduce hugepage-size ignore_error ignore_zone_limits invalidate io_size io_submit_mode iodepth
iodepth_batch iodepth_batch_complete_max iodepth_batch_complete_min iodepth_low ioengine iopsavgtime ioscheduler
job_max_open_zones kb_base lat_percentiles latency_percentile latency_run latency_target latency_window lockfile
lockmem log_alternate_epoch log_alternate_epoch_clock_id log_avg_msec log_compression log_compression_cpus
log_entries log_hist_coarseness log_hist_msec log_max_value log_offset log_prio log_store_compressed
log_unix_epoch loops max_latency max_open_zones mem merge_blktrace_file merge_blktrace_iters
merge_blktrace_scalars name new_group nice norandommap nrfiles numa_cpu_nodes numa_mem_policy number_ios numjobs
offset offset_align offset_increment opendir openfiles overwrite per_job_logs percentage_random percentile_list
pre_read prio prioclass profile ramp_time random_distribution random_generator randrepeat randseed rate
rate_cycle rate_ignore_thinktime rate_iops rate_iops_min rate_min rate_process read_beyond_wp read_iolog
read_iolog_chunked refill_buffers replay_align replay_no_stall replay_redirect replay_scale replay_skip
replay_time_scale runtime rw rw_sequencer rwmixread rwmixwrite scramble_buffers serialize_overlap
significant_figures size slat_percentiles startdelay stats steadystate steadystate_duration
steadystate_ramp_time stonewall sync sync_file_range thinktime thinktime_blocks thinktime_blocks_type
thinktime_iotime thinktime_spin thread time_based trim_backlog trim_backlog_batch trim_percentage
trim_verify_zero uid unified_rw_reporting unique_filename unit_base unlink unlink_each_loop verify verify_async
verify_backlog verify_backlog_batch verify_dump verify_fatal verify_interval verify_offset verify_only
verify_pattern verify_state_load verify_state_save wait_for write_barrier write_bw_log write_hint write_hist_log
write_iolog write_iops_log write_lat_log zero_buffers zone_reset_frequency zone_reset_threshold zonecapacity
zonemode zonerange zonesize zoneskip
"""

_ENGINE_OPTIONS = """
arguments bindname brick busy_poll clientname clustername cmd_type cmdprio cmdprio_bssplit cmdprio_class
cmdprio_percentage conf cpuchunks cpuload cpumode donorname exit_on_io_done fixedbufs force_async grace_time
hipri hipri_percentage hostname inplace interface listen mss nodelay nonvectored nowait pingpong pool port
program protocol rbdname readfua registerfiles sg_write_mode single-instance skip_bad sqthread_poll
sqthread_poll_cpu stat_type std_redirect stream_id thp touch_objects ttl uncached uri userspace_reap verb volume
window_size writefua
"""

_PROFILE_OPTIONS = """
block device-names dir load numruns prep test-duration threads
"""

_OTHER_RELEASES = """
apptag apptag_mask busy_wait_polling chunk_size cont container_uuid cpu_nodes cpuchunks cuda_io dataplacement
deac direct_io direct_write_to_pmem dp_scheme fdp fdp_pli fdp_pli_select file_service gpu_dev_id gpu_dev_ids
hdfs_use_direct hdfsdirectory http_host http_mode http_pass http_s3_key http_s3_keyid http_s3_region
http_s3_security_token http_s3_sse_customer_algorithm http_s3_sse_customer_key http_s3_storage_class
http_swift_auth_token http_user http_verbose https initiator iodepth_mode job_start_clock_id libblkio_driver
libblkio_force_enable_completion_eventfd libblkio_num_entries libblkio_path libblkio_pre_connect_props
libblkio_pre_start_props libblkio_queue_size libblkio_vectored libblkio_wait_mode libblkio_write_zeroes_on_trim
log_issue_time log_window_value md_per_io_size mss namenode nfs_url num_range object_class pi_act pi_chk
plid_select plids pool_uuid ramp_size readfua rocm_io rwmixcycle s3_sse serverip single_instance softrandommap
spr_cache_size spr_num_regions spr_op sprandom steadystate_check_interval svcl thinkcycles use_os_rand
verify_header_seed verify_mode verify_write_sequence write_mode writefua xattr_count xattr_size xnvme_admin
xnvme_async xnvme_dev_nsid xnvme_dev_subnqn xnvme_iovec xnvme_mem xnvme_sync
"""

_PROGRAM_OPTIONS = """
alloc-size append-terse aux-path bandwidth-log client cmdhelp cpuclock-test crctest daemonize debug enghelp eta
eta-interval eta-newline help idle-prof inflate-log latency-log max-jobs memcpytest merge-blktrace-only minimal
output output-format parse-only profile readonly remote-config section server showcmd status-interval
terse-version trigger trigger-file trigger-remote trigger-timeout version warnings-fatal
"""

_PROGRAM_SWITCHES = """
append-terse bandwidth-log cmdhelp cpuclock-test crctest enghelp help latency-log memcpytest merge-blktrace-only
minimal parse-only readonly server showcmd version warnings-fatal
"""

_JOB_SWITCHES = """
bs_unaligned exitall exitall_on_error fixedbufs force_async group_reporting hipri new_group nonvectored
norandommap nowait refill_buffers registerfiles sqthread_poll stonewall thread time_based uncached
userspace_reap verify_only zero_buffers
"""

JOB_OPTIONS = frozenset(_JOB_OPTIONS.split())
ENGINE_OPTIONS = frozenset(_ENGINE_OPTIONS.split())
OTHER_RELEASES = frozenset((_OTHER_RELEASES + _PROFILE_OPTIONS).split())
"""Options of other releases, and those of `--profile`, which every command line of fio takes."""

PROGRAM_OPTIONS = frozenset(_PROGRAM_OPTIONS.split())
"""Options of the fio program itself, which no job has."""

PROGRAM_SWITCHES = frozenset(_PROGRAM_SWITCHES.split())
"""Those that take no value, or only one after `=`."""

JOB_SWITCHES = frozenset(_JOB_SWITCHES.split())
"""Job options that may stand without a value; on a command line theirs can only follow a `=`."""
