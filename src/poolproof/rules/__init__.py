"""The rules, one file for each pitfall, and the judge, which turns their findings into a verdict."""
