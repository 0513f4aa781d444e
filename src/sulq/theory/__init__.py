"""The papers' own demonstrations: what is proved there, run.

`simulated` runs a protocol of the local model against statistical queries, `run_locally` on people.
"""

from sulq.theory.simulation import Call, Calls, Simulation, run_locally, simulated

__all__ = ["Call", "Calls", "Simulation", "run_locally", "simulated"]
