"""Blocks on clusters: Dask, the shared folder, stages on workers."""
