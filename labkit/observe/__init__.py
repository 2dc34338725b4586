"""What there is to see on a cluster: each module looks at one thing and returns a frozen value.

``definition`` (conditions, names, versions), ``discovery`` (a group's versions and verbs), ``stored`` (etcd beside what
is read), ``fields`` (what becomes of a manifest), ``policy`` (when a mutating policy is in force), ``migration`` (a
storage migration), ``cost`` (what definitions and objects cost: ``load`` puts them there and takes them off,
``reading`` is one look at the server, ``growth`` what each more takes), ``cleanup`` (what the course leaves behind).
``changes`` tells two JSON values apart. Looking changes nothing, with three named exceptions: a release writes to one
object, the cost measurement creates definitions and removes them, cleaning up deletes.

The values know nothing of how they are shown; that is ``labkit.show``. Import the module, then name the thing:
``from labkit.observe import migration``, ``migration.watch(...)``.
"""

from __future__ import annotations
