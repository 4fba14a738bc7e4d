"""Find finished fio results in any text and judge them by the same rules as live trials."""
