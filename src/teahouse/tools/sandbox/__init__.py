"""Runs commands that nobody has vouched for, behind a wall that the operating system keeps.

`command` says what is asked and what came of it, `runner` starts and ends it, `launch` is the small
program that goes before it in the child. There are two walls: bubblewrap (all that namespaces can
hide), or Landlock where namespaces are refused. Where neither holds, nothing runs.
"""
