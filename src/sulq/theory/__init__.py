"""The papers' own demonstrations: what is proved there, run.

- `simulated` runs a protocol of the local model against statistical queries, `run_locally` on people.
- `MaskedParity` learns what two rounds can and one cannot; `MaskBlind` is the oracle that proves the second.
- `Adversary` and `worst_answers` give the worst answers that are still valid.
- `implication`: does α imply β in probability, with α known here and β there?
- `emulated` asks a curator the same again and averages, as the SuLQ paper does.
"""

from sulq.theory.adversary import Adversary, worst_answers
from sulq.theory.emulation import emulated
from sulq.theory.implication import Implication, implication
from sulq.theory.mask_blind import MaskBlind
from sulq.theory.masked_examples import masked_parity_domain, masked_parity_rows, masked_parity_schema
from sulq.theory.masked_parity import MaskedParity, MaskedParityRule
from sulq.theory.protocols import Call, Calls, run_locally
from sulq.theory.simulation import Simulation, simulated

__all__ = [
    "Adversary",
    "Call",
    "Calls",
    "Implication",
    "MaskBlind",
    "MaskedParity",
    "MaskedParityRule",
    "Simulation",
    "emulated",
    "implication",
    "masked_parity_domain",
    "masked_parity_rows",
    "masked_parity_schema",
    "run_locally",
    "simulated",
    "worst_answers",
]
