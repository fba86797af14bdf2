"""Blocks of a run on other machines: the shared folder, the checks of workers, Dask."""
