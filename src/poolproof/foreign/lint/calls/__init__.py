"""Find the fio calls in a text, and parse each of them."""
