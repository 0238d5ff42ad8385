"""What a survey is, and what is kept from an answer."""
