"""Speed of spanwise beside other programs, and of its readers; run from a checkout."""
