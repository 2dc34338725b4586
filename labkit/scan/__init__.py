"""``labkit scan``: no answer is left in what students get, whatever it was packed into on the way.

An answer that is folded away, or in a cell that the page leaves out, is still in the page's sources, its search index,
a cached document tree, a wheel. So the files themselves are searched, after they are built, byte by byte: see
``answers`` (what is looked for), ``folding`` (what formats do to it), ``containers`` (what lies in what), ``search``.

    found = scan(read_answers(root), [Path("dist/student")])
    print(found.text)                       # where, and of which exercise
    assert found.clean
"""

from labkit.scan.answers import Answers, Needle, ScanError, instructors_files, read_answers
from labkit.scan.containers import Limits
from labkit.scan.looking import Finding, Scan, Unexamined, scan

__all__ = [
    "Answers",
    "Finding",
    "Limits",
    "Needle",
    "Scan",
    "ScanError",
    "Unexamined",
    "instructors_files",
    "read_answers",
    "scan",
]
