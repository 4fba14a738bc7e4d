"""What the user asks for: the YAML file and the layout expressions become frozen values. Imports nothing above it."""
