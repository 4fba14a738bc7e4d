"""Judging what others measured: fio's results found in any text, with what is known of where they were made."""
