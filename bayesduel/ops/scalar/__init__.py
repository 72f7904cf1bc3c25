"""Building blocks of kernels: functions of one run at a time, for Numba.

``compiled`` marks a function, ``compiler`` compiles it, ``uncompiled`` plays it in
Python, ``draws`` and ``splits`` are what it draws. The scalar engine plays run after
run on a core of a CPU, free to branch. Its files have ``scalar`` in their path: what is
compiled is found on disk by a digest of them all.
"""
