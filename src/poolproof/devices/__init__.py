"""Where a layout's disks come from: one file per kind of device, and the guard that refuses the wrong ones."""
