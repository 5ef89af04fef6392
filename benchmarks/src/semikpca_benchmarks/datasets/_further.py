"""The 24 further sets from KEEL, in two halves.

The halves were fixed before any set was looked at: within each kind (multi-class, two classes, imbalanced) the names
are sorted by their SHA-256, and the first half of them is for tuning. Defaults may be tuned on it; the other half is
kept aside for the last check.
"""

from functools import partial
from typing import Literal, TypeAlias

from semikpca.datasets import keel_file
from semikpca_benchmarks.datasets._info import SetInfo, SuiteSet
from semikpca_benchmarks.datasets._keel import from_keel

Half: TypeAlias = Literal["tuning", "aside"]


def _further(
    name: str,
    half: Half,
    class_sizes: tuple[int, ...],
    sha256: str,
    folder: Literal["balanced", "imbalanced"] = "balanced",
) -> SuiteSet:
    info = SetInfo(name, (half,), class_sizes, "on average", "standardize")
    return SuiteSet(info, partial(from_keel, name, keel_file(name, sha256, folder)))


FURTHER_SETS = (
    _further("segment", "tuning", (127, 157, 151, 153, 124, 132, 156),
             "dad9654e008437e80abecea27d6293d79a20e1fdbbb7cc30c7dc370e9dbb6034"),
    _further("satimage", "tuning", (254, 104, 207, 100, 106, 229),
             "8e7d5263e37bb14dbe49e1a7da24e38fbd0a91b3e9817d59af36852455202110"),
    _further("led7digit", "tuning", (45, 37, 51, 57, 52, 52, 47, 57, 53, 49),
             "826599d0c5926832c5df27df4412264ba9af17da644fbc854e3e3f6cd84eb684"),
    _further("optdigits", "tuning", (106, 99, 117, 103, 85, 95, 98, 93, 104, 100),
             "ff5bdca1a597fde4361854eeec741dc671a97633a1de46f1ac23fc173f95306b"),
    _further("wine", "tuning", (59, 71, 48), "33ff747cf181064ecc0933228c29cad7194d68d09a71355b3072072bbf4e0878"),
    _further("texture", "tuning", (91, 83, 86, 106, 89, 99, 96, 88, 90, 91, 81),
             "6e2e06ccf0da12bebed463df55bafddd3ae1d37ccbd23c4bbbe597d5d5445ae3"),
    _further("twonorm", "tuning", (502, 498), "4e1a341d055572eb72be548e438b575e299b7e720fc1776f3cddb39a69eba2f3"),
    _further("ring", "tuning", (486, 514), "de928e7c10817785fe37825fac2d5b515fe7b1c9593645dd9975c4a02f86dfd9"),
    _further("german", "tuning", (700, 300), "ec6cec3501e2deaacbc0c3ea341b0f5ef42483746a4a60b9d70c9cff83412229"),
    _further("phoneme", "tuning", (697, 303), "c0eebb5b33f68008d6030ed36148b79d3d370f060902fa0f23b9d801e213be58"),
    _further("new-thyroid1", "tuning", (180, 35), "ef61443c6cc564f1d918a30c726e5ff9bf45a48444667a68380d5fb6ebb65c78",
             "imbalanced"),
    _further("yeast3", "tuning", (882, 118), "39ac298ffd80f6956241d4b731f767c261e9e87f26cf1f0fcd58a5d39fc453ef",
             "imbalanced"),
    _further("vowel", "aside", (90,) * 11, "f2fb56d217deb2f73f14555fd56c699a8c4689e57cfc15f3117656c19de4b283"),
    _further("contraceptive", "aside", (418, 227, 355),
             "ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9"),
    _further("penbased", "aside", (87, 108, 104, 101, 102, 90, 89, 103, 102, 114),
             "89641315452220aac9bcdc5a99476323fdb6fcb69ac45973fa6cc3e13e4ab663"),
    _further("splice", "aside", (222, 240, 538), "385c6c37b2120b89d5c4922a7947dc1db925b245e9f33eaf08619cc92e4b011a"),
    _further("vehicle", "aside", (218, 212, 217, 199),
             "0b3d1659ded56bdacc90a49fe8d58a90db156532cc3a80e260803df83f29aaa9"),
    _further("movement_libras", "aside", (24,) * 15,
             "9177ab9c7304096022952729e4246028283d9c0fb899eb0f6f85ca3423f6f6ce"),
    _further("spambase", "aside", (620, 380), "4000f307ace66d6e24ab4a017cd5617887ef81a243155a677eafcc1c759d2f32"),
    _further("ionosphere", "aside", (126, 225), "3364c4a0d45072f195b7eab510f3ed27882e0c7a14fe15fd4bf982a4bd8143e4"),
    _further("wdbc", "aside", (357, 212), "f47612e4ffcd253ddf456474c584eb1f39d07e998b96fc7193a23e7b7d26b611"),
    _further("banana", "aside", (551, 449), "5bd625660e17b219ffb44019e973db014dd1726ffde309e881d3942436508b80"),
    _further("haberman", "aside", (225, 81), "23219e90446ee7604f386c400f666f9871ef74a044294c517e778343cada952d",
             "imbalanced"),
    _further("page-blocks0", "aside", (902, 98), "c404bc3d7898e9f3cb4909860621015ef6454ca86863e184f8c1d28ca0e2ca23",
             "imbalanced"),
)  # fmt: skip
"""Multi-class ones, those of two classes and imbalanced ones, in this order in each half."""
