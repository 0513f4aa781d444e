"""A release of all pairs of columns, and what follows from it at no further cost."""
