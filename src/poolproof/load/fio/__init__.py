"""fio as a load generator: converts workloads to fio jobs, and fio's output to results."""
