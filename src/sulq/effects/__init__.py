"""Effects of attributes on an outcome, made of noisy sums. Nothing here knows of queries or oracles."""
