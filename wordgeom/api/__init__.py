"""The public functions and classes, re-exported by `import wordgeom`."""
