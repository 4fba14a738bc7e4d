"""The devices under a layout: one module per kind of device, and the guard that protects all other disks."""
