"""Gradient descent on the objective of the geometric build-up: see method.py."""
