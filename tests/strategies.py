"""Hypothesis strategies that several tests use."""

from typing import Any

from hypothesis import strategies as st


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """None, or a value of the strategy."""
    return st.none() | strategy
