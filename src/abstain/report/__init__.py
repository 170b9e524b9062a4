"""How things look: tables for terminals, Markdown, LaTeX and CSV."""
