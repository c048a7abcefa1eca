"""Zstandard (RFC 8878): the standard library's module from Python 3.14 on, and its backport before."""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor, ZstdDecompressor, ZstdError, compress, decompress
else:
    from backports.zstd import ZstdCompressor, ZstdDecompressor, ZstdError, compress, decompress

__all__ = ["ZstdCompressor", "ZstdDecompressor", "ZstdError", "compress", "decompress"]
