"""Access to files that another user may have prepared: links are not followed, and the size of what is read is
limited.
"""
