"""Was an answer due, and was one given?"""
