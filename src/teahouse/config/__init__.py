"""Settings: one typed tree from file and environment. Nothing else reads the environment.

Kept empty, so that `teahouse --help` may ask for the language without loading the tree.
"""
