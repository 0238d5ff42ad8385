"""The collection service: a survey that asks without learning."""
