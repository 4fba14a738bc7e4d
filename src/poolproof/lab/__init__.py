"""The lab: a disposable virtual machine with every storage system, and with disks that match those of a campaign."""
