"""Mechanisms: turn answers (`ask`) or values (`publish`) into subsets."""
