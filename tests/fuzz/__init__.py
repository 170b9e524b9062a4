"""Inputs that nobody means, made at random from a seed."""
