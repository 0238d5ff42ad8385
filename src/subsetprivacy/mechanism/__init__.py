"""Mechanisms that turn answers (`ask`) or values (`publish`) into subsets."""
