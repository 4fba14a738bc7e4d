"""Where commands run. A host is three methods: run a command, read a file, stream counters."""
