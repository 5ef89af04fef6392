"""From files to tables and from tables to numbers."""
