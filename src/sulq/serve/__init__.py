"""The curator as a service: data sets behind HTTP, for analysts who have a key and never the file."""
