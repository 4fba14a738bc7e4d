"""Find fio commands and job files in the source code of programs."""
