"""The command line, with one module per subcommand: it parses arguments, calls the library and prints results.

Large modules are imported only when a command runs.
"""
