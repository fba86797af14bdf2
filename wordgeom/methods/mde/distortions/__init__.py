"""The distortion functions of Agrawal, Ali and Boyd (2021), chapter 4, by name.

A new function is a class in a file of `attractive/`, `repulsive/` or `deviations/`, and its line
here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from wordgeom.methods.mde.distortions.attractive.huber import Huber
from wordgeom.methods.mde.distortions.attractive.log1p import Log1p
from wordgeom.methods.mde.distortions.attractive.logistic import Logistic
from wordgeom.methods.mde.distortions.attractive.power import Power
from wordgeom.methods.mde.distortions.deviations.absolute import Absolute
from wordgeom.methods.mde.distortions.deviations.fractional import Fractional
from wordgeom.methods.mde.distortions.deviations.huber import HuberLoss
from wordgeom.methods.mde.distortions.deviations.logistic import LogisticLoss
from wordgeom.methods.mde.distortions.deviations.quadratic import Quadratic
from wordgeom.methods.mde.distortions.deviations.soft_fractional import SoftFractional
from wordgeom.methods.mde.distortions.deviations.weighted import Weighted
from wordgeom.methods.mde.distortions.distortion import Distortion
from wordgeom.methods.mde.distortions.repulsive.inverse_power import InversePower
from wordgeom.methods.mde.distortions.repulsive.log import Log
from wordgeom.methods.mde.distortions.repulsive.logratio import LogRatio

Functions = Mapping[str, type[Distortion]]


def _by_name(*classes: type[Distortion]) -> Functions:
    return {cls.name: cls for cls in classes}


ATTRACTIVE = _by_name(Log1p, Power, Huber, Logistic)
REPULSIVE = _by_name(Log, InversePower, LogRatio)
DEVIATIONS = _by_name(
    Quadratic, Weighted, HuberLoss, Absolute, LogisticLoss, Fractional, SoftFractional
)


def parameters(function: type[Distortion]) -> dict[str, float]:
    """Return the parameters of a function and their defaults, by name."""
    return {field.name: field.default for field in fields(function)}  # type: ignore[arg-type,misc]
