"""Finished results, one's own or a stranger's: found in any text, judged by the same rules as live trials."""
