"""The tests of the service, and the programs that measure and test a running instance (bench, soak, fuzz)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
