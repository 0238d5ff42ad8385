"""What is kept: counters by their content, on SQLite or PostgreSQL."""
