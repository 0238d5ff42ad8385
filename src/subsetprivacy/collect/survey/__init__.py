"""What a survey is, and what of an answer is kept."""
