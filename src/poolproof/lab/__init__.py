"""The lab: a disposable virtual machine on which every storage system is real, with disks like the campaign's."""
