"""Runs the code on its standard input like a notebook cell.

It is itself run inside the sandbox, by whatever Python 3 is there: it keeps to old grammar and
imports nothing of ours. Never imported.
"""

import ast
import linecache
import os
import sys
import traceback

NAME = "<python>"


def main() -> int:
    code = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # what runs gets no input
    os.close(nothing)
    lines = code.splitlines(True)
    linecache.cache[NAME] = (len(code), None, lines, NAME)  # tracebacks show the lines
    names = {"__name__": "__main__", "__builtins__": __builtins__}
    sys.argv = [NAME]
    try:
        tree = ast.parse(code, NAME)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, NAME, "exec"), names)  # noqa: S102  this is its work
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), NAME, "eval"), names)  # noqa: S307
            if value is not None:
                print(repr(value))
    except SystemExit:
        raise
    except SyntaxError:
        traceback.print_exc(0)
        return 1
    except BaseException:
        kind, error, trace = sys.exc_info()
        traceback.print_exception(kind, error, trace.tb_next if trace else None)
        return 1
    return 0


sys.exit(main())
