"""Find what a text says about a result besides its figures: the disks, the memory, caches, compression and mounts."""
