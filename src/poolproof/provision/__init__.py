"""Plan the steps, guard the disks, apply, and undo from the journal."""
