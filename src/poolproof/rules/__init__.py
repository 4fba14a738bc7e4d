"""One file per pitfall, found by looking; the judge makes a verdict of their findings."""
