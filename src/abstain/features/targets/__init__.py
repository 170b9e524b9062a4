"""`targets`: does a model heed what it is told that an error costs?"""
