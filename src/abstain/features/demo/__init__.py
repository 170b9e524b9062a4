"""The bundled campaign."""
