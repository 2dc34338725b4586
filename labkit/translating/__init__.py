"""For authors: catalogues brought up to date with the English texts, and what is wrong with them.

A course in two languages comes apart one text at a time, without a sound: a changed paragraph whose translation still
says the old thing, a command that was translated along, a message nobody marked. So the texts are collected anew each
time, from notebooks, exercises and marked messages; an entry whose English changed is fuzzy until somebody looked at
it; and an edition is not made while anything is wrong (``labkit languages check``).
"""

from labkit.translating.catalogues import Updated, update
from labkit.translating.checking import Wrong, wrongs
from labkit.translating.sources import Entry, Source, sources

__all__ = ["Entry", "Source", "Updated", "Wrong", "sources", "update", "wrongs"]
