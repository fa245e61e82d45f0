"""Runs case files of any kind: `python -m teahouse.testing.cases KIND FILE…`.

Prints each failing id with what was expected and what came, then `N/M` as its last line, and exits
0 only if all pass. A kind is one entry in `KINDS`: it takes the cases of a file and judges each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from teahouse.testing import conformance, egress_cases, path_cases, repairs, shell_cases
from teahouse.testing.case_files import Judge, read_cases, report

KINDS: Final[Mapping[str, Judge]] = {
    "egress": egress_cases.judge,
    "path": path_cases.judge,
    "repair": repairs.judge,
    "shell": shell_cases.judge,
    "wire": conformance.judge,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Run case files.")
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    cases = [case for path in options.files for case in read_cases(path)]
    sys.exit(0 if report(KINDS[options.kind](cases)) else 1)


if __name__ == "__main__":
    main()
