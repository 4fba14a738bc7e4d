"""fio: turn workloads into jobs, and output into results."""
