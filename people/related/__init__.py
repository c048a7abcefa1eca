"""Whom the cards of people name as their relatives and friends."""
