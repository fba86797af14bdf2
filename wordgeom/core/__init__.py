"""Options, errors, shared types and text formatting; imports nothing else of the package."""
