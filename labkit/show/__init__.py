"""Views: pure functions from values to text, HTML, tables and plots.

Importing this package loads nothing: a view that needs rich, pandas or matplotlib imports it itself, so that the views
of the set-up and of the doctor work on a machine where no package is installed.
"""
