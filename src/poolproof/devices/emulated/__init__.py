"""Disks that are emulated: service-time models, served as block devices by nbdkit."""
