"""Findings as words, tables and pictures: the one place where numbers become pages."""
