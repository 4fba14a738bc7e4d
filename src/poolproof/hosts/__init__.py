"""Where commands run. A host has four methods: run a command, read a file, read small files at once, stream them."""
