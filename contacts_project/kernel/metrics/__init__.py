"""Counters and histograms, summed over all processes of a machine (docs/monitoring.md)."""

from contacts_project.kernel.metrics.series import Counter, Histogram, Metric, Sample, declared, read_all

__all__ = ["Counter", "Histogram", "Metric", "Sample", "declared", "read_all"]
