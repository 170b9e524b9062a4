"""A campaign as people read it: tables, sentences, charts, a page, a folder."""
