"""Would these runs be accepted?"""

from abstain.analyses.validate.result import ValidateResult
from abstain.analyses.validate.validation import validate, validate_runs

__all__ = ["ValidateResult", "validate", "validate_runs"]
