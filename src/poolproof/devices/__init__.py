"""The disks of a layout: one file per kind of device, and the guard that protects all other disks."""
