"""Check fio jobs before they run: report each problem with its line, and correct the text."""
