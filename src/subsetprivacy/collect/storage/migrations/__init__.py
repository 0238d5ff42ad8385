"""How the tables came to be: one file per change, applied in turn when a store is opened."""
