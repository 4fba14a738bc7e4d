"""Check fio jobs before they run: findings at the lines that cause them, and the corrected text."""
