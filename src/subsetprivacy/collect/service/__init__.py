"""What the service does: publish, collect, release, compute, export."""
