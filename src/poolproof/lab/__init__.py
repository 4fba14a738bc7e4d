"""The lab: a disposable virtual machine with every storage system and with disks like those of a campaign."""
