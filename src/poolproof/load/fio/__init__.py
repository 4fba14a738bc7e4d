"""fio as a load generator: from workloads to jobs, and from fio's output to results."""
