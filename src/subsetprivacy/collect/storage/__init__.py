"""The database: counters keyed by their content, on SQLite or PostgreSQL."""
