"""One file per subcommand: parse arguments, call, print. Heavy modules are imported when a command runs, not before."""
