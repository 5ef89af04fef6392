"""How the work of the fused product is cut; what the programs compute is tested with the product."""

import pytest


def test_tiles_fit_the_shared_memory_of_small_and_large_gpus():
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from semikpca.operators.products._triton import MODES, MOST_COLUMNS, MOST_FEATURES
    from semikpca.operators.products._triton_programs import choose_tiles

    for shared_bytes in (99 << 10, 163 << 10, 227 << 10):
        for mode in MODES:
            for width in (16, 64, 128, 256, MOST_FEATURES):
                for n_columns in (16, MOST_COLUMNS):
                    tiles = choose_tiles("gaussian", width, n_columns, mode, shared_bytes)
                    assert tiles.shared_bytes(width, n_columns, mode) <= shared_bytes
                    assert 256 % tiles.rows == 0 == 256 % tiles.columns  # rows are padded to a multiple of 256
