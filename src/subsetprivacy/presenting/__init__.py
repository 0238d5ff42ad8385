"""Findings as words, tables and pictures. Only this package turns numbers into pages."""
