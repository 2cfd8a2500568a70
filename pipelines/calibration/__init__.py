"""Fits a reader's confidence: observe what it finds for held-back questions, then fit as often as wanted."""

from .calibrate import Calibrated, calibrate, keep_calibration
from .fit import fit
from .observed import Observed

__all__ = ["Calibrated", "Observed", "calibrate", "fit", "keep_calibration"]
