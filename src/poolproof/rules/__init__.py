"""The rules, one file per pitfall, and the judge, which derives a verdict from their findings."""
