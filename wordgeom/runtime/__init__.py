"""Threads, memory, progress, signals, subprocesses and compiled kernels."""
