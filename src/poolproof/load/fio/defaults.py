"""What fio takes for granted where a job says nothing."""

ON_BY_DEFAULT = frozenset(
    {
        "randrepeat", "invalidate", "scramble_buffers", "do_verify", "create_serialize", "create_fsync",
        "allow_file_create", "unique_filename", "stats", "clat_percentiles", "disk_util", "per_job_logs", "buffered",
        "verify_state_save", "trim_verify_zero",
    }
)  # fmt: skip
"""Switches that are on unless a job turns them off (HOWTO, and options.c of fio 3.33)."""
