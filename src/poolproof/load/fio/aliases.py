"""fio's second names for its options, and the one that the rest of poolproof uses.

Source: the `alias` lines of `fio --cmdhelp=OPTION` of fio 3.33 (fio's options.c), `ss_interval` from fio 3.38.
"""

ALIASES: dict[str, str] = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "io_limit": "io_size",
    "fill_fs": "fill_device",
    "fileoffset": "offset",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "iomem": "mem",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "wait_for_previous": "stonewall",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "ss_interval": "steadystate_check_interval",
}


def canonical(name: str) -> str:
    """The option's first name; a name without an alias is returned as it is."""
    return ALIASES.get(name, name)
