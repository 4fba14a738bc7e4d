"""A disk with a PCIe link that is narrower or slower than the disk supports."""

from poolproof.rules.model import Case, Findings, Rule, linux_source, notes


def _in_job(case: Case) -> Findings:
    if case.target and case.target.narrow_links and (case.load.reads or case.load.writes):
        yield notes(
            f"{'; '.join(case.target.narrow_links)}: the slot, a riser or power saving limits the disk, so large I/Os "
            "measure the link",
            weight=45,
        )


RULE = Rule(
    title="A link slower than the disk",
    wrong="An NVMe disk in a slot with fewer lanes or an older PCIe generation reaches only the bandwidth of the link.",
    shows="Before the run: current_link_width or current_link_speed of a disk is below its maximum. An idle link may "
    "also run below its maximum to save power.",
    error="Too low for the disk; correct for this machine.",
    fix="move the disk to a slot with enough lanes, or report the link (LnkSta in `lspci -vv`) with the result",
    sources=(
        linux_source("6.12", "drivers/pci/pci-sysfs.c", "current_link_width_show, max_link_width_show"),
        "PCI Express Base Specification 5.0, Link Status Register",
    ),
    in_job=_in_job,
    options=("filename", "directory"),
    cleared_by_byte_count=False,
    needs="Needs an NVMe disk.",
    commands="cat /sys/class/nvme/nvme0/device/current_link_*; fio --rw=read --bs=1m --size=1g --direct=1 "
    "--ioengine=libaio --iodepth=16",
)
