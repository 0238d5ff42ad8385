"""Designs: which subsets are drawn, and with what probability."""

from subsetprivacy.design.base import Design
from subsetprivacy.design.check import MechanismCheck, check_mechanism
from subsetprivacy.design.coarse import Coarse, coarse
from subsetprivacy.design.conditional import (
    Conditional,
    FullyPrivate,
    NonPrivate,
    conditional,
    fully_private,
    nonprivate,
)
from subsetprivacy.design.covered import Covered, covered
from subsetprivacy.design.described import Formula
from subsetprivacy.design.document import design_from_json, load_design
from subsetprivacy.design.document_format import Keys
from subsetprivacy.design.exchangeable import ExchangeableDesign, FixedSize, fixed_size
from subsetprivacy.design.hadamard import Hadamard, hadamard
from subsetprivacy.design.independent import Independent, Uniform, independent, uniform
from subsetprivacy.design.mixture import Mixture
from subsetprivacy.design.partition import EvenPartition, ListedPartition, partition
from subsetprivacy.design.product import Product, product
from subsetprivacy.design.require import as_product, require_design
from subsetprivacy.design.secret_bit import ArtificialBit, EnlargedDesign, warner
from subsetprivacy.design.small import join, small

__all__ = [
    "ArtificialBit",
    "Coarse",
    "Conditional",
    "Covered",
    "Design",
    "EnlargedDesign",
    "EvenPartition",
    "ExchangeableDesign",
    "FixedSize",
    "Formula",
    "FullyPrivate",
    "Hadamard",
    "Independent",
    "Keys",
    "ListedPartition",
    "MechanismCheck",
    "Mixture",
    "NonPrivate",
    "Product",
    "Uniform",
    "as_product",
    "check_mechanism",
    "coarse",
    "conditional",
    "covered",
    "design_from_json",
    "fixed_size",
    "fully_private",
    "hadamard",
    "independent",
    "join",
    "load_design",
    "nonprivate",
    "partition",
    "product",
    "require_design",
    "small",
    "uniform",
    "warner",
]
