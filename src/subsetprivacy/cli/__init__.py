"""The command line: parse, call the library once, print."""
