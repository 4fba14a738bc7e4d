"""One module per subcommand, which parses the arguments, calls the library and prints the result.

Heavy modules are imported only when a command runs.
"""
