"""Check fio jobs before they run: report each problem with its line number, and fix the text."""
