"""Read and write run directories, compare runs, and query many runs with SQL."""
