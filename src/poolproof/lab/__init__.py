"""The lab: a disposable virtual machine that has every storage system, and disks like a campaign's."""
