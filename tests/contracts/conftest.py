"""What is here and is no test: scripts that a type checker reads."""

collect_ignore = ["users"]
