"""Stored co-occurrence and document-term matrices."""
