"""What folders hold of sweeps: runs, the parts of several processes, Zarr."""
