"""Grading: what a class handed in, run behind walls, judged from its text, and written down.

The unit of work is one submission, a pure function of its bytes and of the exercises: ``reading`` finds them in
whatever form a learning platform gives, ``grader`` makes a result of one, ``pool`` (or ``dask``) of many, ``gradebook``
and the pages read nothing but results. It needs Linux.
"""
