"""Emulated disks: service-time models, served as block devices by nbdkit."""
