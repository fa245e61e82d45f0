"""HTTP tools without code: a tool as data, in a file, whose values are escaped where they stand."""
