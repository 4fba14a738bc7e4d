"""Load generators: what they are asked to do, and what they measured. `load/fio` is everything about fio."""
