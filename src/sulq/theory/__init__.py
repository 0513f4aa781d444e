"""The papers' own demonstrations: what is proved there, run.

- `simulated` runs a protocol of the local model against statistical queries, `run_locally` on people.
- `MaskedParity` learns what two rounds can and one cannot; `MaskBlind` is the oracle that proves the second,
  and `masked_parity_failure` says how often one round fails.
- `Adversary` and `worst_answers` give the worst answers that are still valid.
- `implication`: does α imply β in probability, with α known here and β there?
- `emulated` asks a curator the same again and averages, as the SuLQ paper does.
- `confidence` is by how much a release raises somebody's confidence: the SuLQ paper's definition of privacy.
- `ParityBlind` is the oracle of the lower bound for parity; `sq_dimension` says how hard a small class is.
"""

from sulq.theory.adversary import Adversary, worst_answers
from sulq.theory.confidence import Confidence, conf, confidence
from sulq.theory.emulation import emulated, emulation_rows
from sulq.theory.implication import Implication, implication
from sulq.theory.mask_blind import MaskBlind
from sulq.theory.masked_examples import masked_parity_domain, masked_parity_rows, masked_parity_schema
from sulq.theory.masked_parity import MaskedParity, MaskedParityRule
from sulq.theory.parity_blind import ParityBlind, parity_queries
from sulq.theory.protocols import Call, Calls, run_locally
from sulq.theory.simulation import Simulation, simulated
from sulq.theory.sq_dimension import concepts_of, sq_dimension
from sulq.theory.theorems import masked_parity_failure

__all__ = [
    "Adversary",
    "Call",
    "Calls",
    "Confidence",
    "Implication",
    "MaskBlind",
    "MaskedParity",
    "MaskedParityRule",
    "ParityBlind",
    "Simulation",
    "concepts_of",
    "conf",
    "confidence",
    "emulated",
    "emulation_rows",
    "implication",
    "masked_parity_domain",
    "masked_parity_failure",
    "masked_parity_rows",
    "masked_parity_schema",
    "parity_queries",
    "run_locally",
    "simulated",
    "sq_dimension",
    "worst_answers",
]
