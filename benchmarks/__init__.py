"""Benchmarks: each prints a table beside what a user would pick instead, and never asserts a time."""
