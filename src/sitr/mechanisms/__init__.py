"""Noise fitted to a sensitivity: each file is one mechanism. Names are loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from sitr.errors import unknown_attribute

if TYPE_CHECKING:
    from sitr.mechanisms.composed import Composed, Repeated
    from sitr.mechanisms.exponential import Exponential
    from sitr.mechanisms.gaussian import Gaussian
    from sitr.mechanisms.laplace import Laplace
    from sitr.mechanisms.mechanism import Mechanism
    from sitr.mechanisms.noisy_max import NoisyMax
    from sitr.mechanisms.partition import PartitionSelection
    from sitr.mechanisms.permute_and_flip import PermuteAndFlip
    from sitr.mechanisms.proposed import ProposeTestRelease
    from sitr.mechanisms.quantile import Quantiles
    from sitr.mechanisms.random_noise import RandomNoise
    from sitr.mechanisms.response import Response, UnaryResponse
    from sitr.mechanisms.rounded_gaussian import RoundedGaussian
    from sitr.mechanisms.sampled_noise import SampledNoise
    from sitr.mechanisms.shuffled import Shuffled
    from sitr.mechanisms.smooth import NoiseKind, SmoothNoise
    from sitr.mechanisms.sparse_histogram import SparseHistogram
    from sitr.mechanisms.sparse_vector import RefinedSparseVector, SparseVector
    from sitr.mechanisms.spherical import Spherical
    from sitr.mechanisms.subsampled import Subsampled
    from sitr.mechanisms.threshold import Threshold
    from sitr.mechanisms.tree import Tree

_HOME = {
    "Composed": "composed",
    "Exponential": "exponential",
    "Gaussian": "gaussian",
    "Laplace": "laplace",
    "Mechanism": "mechanism",
    "NoiseKind": "smooth",
    "NoisyMax": "noisy_max",
    "PartitionSelection": "partition",
    "PermuteAndFlip": "permute_and_flip",
    "ProposeTestRelease": "proposed",
    "Quantiles": "quantile",
    "RandomNoise": "random_noise",
    "RefinedSparseVector": "sparse_vector",
    "Repeated": "composed",
    "Response": "response",
    "RoundedGaussian": "rounded_gaussian",
    "SampledNoise": "sampled_noise",
    "Shuffled": "shuffled",
    "SmoothNoise": "smooth",
    "SparseHistogram": "sparse_histogram",
    "SparseVector": "sparse_vector",
    "Spherical": "spherical",
    "Subsampled": "subsampled",
    "Threshold": "threshold",
    "Tree": "tree",
    "UnaryResponse": "response",
}

__all__ = [
    "Composed",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "NoiseKind",
    "NoisyMax",
    "PartitionSelection",
    "PermuteAndFlip",
    "ProposeTestRelease",
    "Quantiles",
    "RandomNoise",
    "RefinedSparseVector",
    "Repeated",
    "Response",
    "RoundedGaussian",
    "SampledNoise",
    "Shuffled",
    "SmoothNoise",
    "SparseHistogram",
    "SparseVector",
    "Spherical",
    "Subsampled",
    "Threshold",
    "Tree",
    "UnaryResponse",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise unknown_attribute(name, __all__, module=__name__)
    return getattr(import_module(f"sitr.mechanisms.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
