"""Bundles for platforms that host shared tasks: Codabench, EvalAI, TIRA."""
