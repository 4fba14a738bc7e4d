"""One module per subcommand: parse arguments, call, print. Heavy modules are imported only when a command runs."""
