"""Jobs judged before they run: findings at the lines that cause them, and the text that mends them."""
