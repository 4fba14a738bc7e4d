"""fio: jobs out, results in."""
