"""Where commands run. A host is four methods: run a command, read a file, look at counters, stream them."""
