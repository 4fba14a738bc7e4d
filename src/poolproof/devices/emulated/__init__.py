"""Emulated disks: models of service times, which nbdkit serves as block devices."""
