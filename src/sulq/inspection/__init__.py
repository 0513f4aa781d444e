"""What is wrong with a table, for its owner's eyes only: exact facts, which are not private."""
