"""The engine: everything about diagnosing text-generation metrics that is true without a browser."""
