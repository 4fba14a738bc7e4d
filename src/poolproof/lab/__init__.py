"""The lab: a disposable virtual machine with every storage system, whose disks match those of a campaign."""
