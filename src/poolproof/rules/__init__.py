"""The rules, with one module per pitfall, and the judge, which turns their findings into verdicts."""
