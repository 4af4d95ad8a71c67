"""Noise fitted to a sensitivity: each file is one mechanism. Names are loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitr.namespace import lazily

if TYPE_CHECKING:
    from sitr.mechanisms.composed import Composed as Composed
    from sitr.mechanisms.composed import Repeated as Repeated
    from sitr.mechanisms.dilation import laplace_delta as laplace_delta
    from sitr.mechanisms.dilation import laplace_dilation as laplace_dilation
    from sitr.mechanisms.dilation import student_epsilon as student_epsilon
    from sitr.mechanisms.distributed import DistributedNoise as DistributedNoise
    from sitr.mechanisms.distributed import Shares as Shares
    from sitr.mechanisms.exponential import Exponential as Exponential
    from sitr.mechanisms.gaussian import Gaussian as Gaussian
    from sitr.mechanisms.gaussian import classical_sigma as classical_sigma
    from sitr.mechanisms.gaussian_threshold import GaussianThreshold as GaussianThreshold
    from sitr.mechanisms.granularity import rounded as rounded
    from sitr.mechanisms.granularity import rounded_sensitivity as rounded_sensitivity
    from sitr.mechanisms.grouped_quantile import GroupedQuantile as GroupedQuantile
    from sitr.mechanisms.laplace import Laplace as Laplace
    from sitr.mechanisms.markov_quilt import MarkovQuilt as MarkovQuilt
    from sitr.mechanisms.mechanism import Mechanism as Mechanism
    from sitr.mechanisms.noisy_max import NoisyMax as NoisyMax
    from sitr.mechanisms.partition import PartitionSelection as PartitionSelection
    from sitr.mechanisms.permute_and_flip import PermuteAndFlip as PermuteAndFlip
    from sitr.mechanisms.prefix_gaussian import PrefixGaussian as PrefixGaussian
    from sitr.mechanisms.proposed import ProposeTestRelease as ProposeTestRelease
    from sitr.mechanisms.quantile import Quantiles as Quantiles
    from sitr.mechanisms.random_noise import RandomNoise as RandomNoise
    from sitr.mechanisms.residual_gaussian import Base as Base
    from sitr.mechanisms.residual_gaussian import ResidualGaussian as ResidualGaussian
    from sitr.mechanisms.response import Response as Response
    from sitr.mechanisms.response import UnaryResponse as UnaryResponse
    from sitr.mechanisms.rounded_gaussian import RoundedGaussian as RoundedGaussian
    from sitr.mechanisms.sample_and_aggregate import SampleAndAggregate as SampleAndAggregate
    from sitr.mechanisms.sampled_noise import SampledNoise as SampledNoise
    from sitr.mechanisms.secret_shares import SecretSharing as SecretSharing
    from sitr.mechanisms.shared import SharedNoise as SharedNoise
    from sitr.mechanisms.shuffled import Shuffled as Shuffled
    from sitr.mechanisms.smooth import NoiseKind as NoiseKind
    from sitr.mechanisms.smooth import SmoothNoise as SmoothNoise
    from sitr.mechanisms.sparse_histogram import SparseHistogram as SparseHistogram
    from sitr.mechanisms.sparse_vector import RefinedSparseVector as RefinedSparseVector
    from sitr.mechanisms.sparse_vector import SparseVector as SparseVector
    from sitr.mechanisms.spherical import Spherical as Spherical
    from sitr.mechanisms.subsampled import Subsampled as Subsampled
    from sitr.mechanisms.threshold import Threshold as Threshold
    from sitr.mechanisms.tree import Tree as Tree
    from sitr.mechanisms.wasserstein import Wasserstein as Wasserstein

__getattr__, __dir__, __all__ = lazily(
    __name__,
    {
        "Base": "residual_gaussian",
        "Composed": "composed",
        "DistributedNoise": "distributed",
        "Exponential": "exponential",
        "Gaussian": "gaussian",
        "GaussianThreshold": "gaussian_threshold",
        "GroupedQuantile": "grouped_quantile",
        "Laplace": "laplace",
        "MarkovQuilt": "markov_quilt",
        "Mechanism": "mechanism",
        "NoiseKind": "smooth",
        "NoisyMax": "noisy_max",
        "PartitionSelection": "partition",
        "PermuteAndFlip": "permute_and_flip",
        "PrefixGaussian": "prefix_gaussian",
        "ProposeTestRelease": "proposed",
        "Quantiles": "quantile",
        "RandomNoise": "random_noise",
        "RefinedSparseVector": "sparse_vector",
        "Repeated": "composed",
        "ResidualGaussian": "residual_gaussian",
        "Response": "response",
        "RoundedGaussian": "rounded_gaussian",
        "SampleAndAggregate": "sample_and_aggregate",
        "SampledNoise": "sampled_noise",
        "SecretSharing": "secret_shares",
        "SharedNoise": "shared",
        "Shares": "distributed",
        "Shuffled": "shuffled",
        "SmoothNoise": "smooth",
        "SparseHistogram": "sparse_histogram",
        "SparseVector": "sparse_vector",
        "Spherical": "spherical",
        "Subsampled": "subsampled",
        "Threshold": "threshold",
        "Tree": "tree",
        "UnaryResponse": "response",
        "Wasserstein": "wasserstein",
        "classical_sigma": "gaussian",
        "laplace_delta": "dilation",
        "laplace_dilation": "dilation",
        "rounded": "granularity",
        "rounded_sensitivity": "granularity",
        "student_epsilon": "dilation",
    },
)
