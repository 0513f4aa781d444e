"""The console: pages for people, on the same desks, keys and limits as the API."""
