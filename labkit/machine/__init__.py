"""The machine room: set-up, the doctor, the working copy of the course, the checks and the measurements.

It looks at the machine the kit runs on, and changes it only inside the repository (``.venv``, ``build``,
``controlplane/bin``, ``lab``). What runs before any package exists (``setup``, ``doctor`` and what they import) uses
the standard library only.
"""
