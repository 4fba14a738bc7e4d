"""Load generators that only tests have: a folder that is added to those of poolproof.load."""
