"""What a subset gives away: of a design at a distribution, and of one person."""
