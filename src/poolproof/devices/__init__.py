"""The devices below a layout, with one module per kind of device, and the guard that protects all other disks."""
