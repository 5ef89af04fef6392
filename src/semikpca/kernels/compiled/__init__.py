"""Kernel values, and products with them, by programs that are compiled for this processor: the extra ``fast``.

``_programs.py`` writes a formula down as LLVM instructions, in the few words of ``_emit.py``; ``_machine.py`` makes
functions of them, and ``_tiles.py`` calls these. The first three need llvmlite; the last imports them when it is asked
for a matrix that is large enough.
"""

from semikpca.kernels.compiled._tiles import CompiledTiles, compiled_tiles

__all__ = ["CompiledTiles", "compiled_tiles"]
