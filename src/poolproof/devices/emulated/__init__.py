"""Emulated disks. nbdkit serves their data, and delays each request for as long as a model of the disk computes."""
