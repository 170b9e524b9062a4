"""How each kind of result looks: one file a kind, whose class `View` says it."""
