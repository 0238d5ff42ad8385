"""The use cases of the service: publish, collect, release, compute, export."""
