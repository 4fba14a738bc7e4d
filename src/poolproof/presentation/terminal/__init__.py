"""What people read: tables, progress, pages."""
