"""Views: observations as text, HTML, tables and plots.

Each view is a pure function from a value to a ``document``, which two renderers turn into text and HTML, so there is
always a text twin; ``views`` finds the view of a value, ``ipython`` gives the views to a notebook, ``frames`` and
``plots`` need pandas and matplotlib and load them only when they are asked. Importing the package loads nothing, so
that the views of the set-up and of the doctor work on a machine where no package is installed.
"""

from __future__ import annotations
