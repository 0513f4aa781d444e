"""An audit: what an outsider would try, to see whether promises are kept. `sulq audit` runs all of it."""
