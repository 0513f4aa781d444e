"""Reports and frequencies by pure-ldp and multi-freq-ldpy: how many a second, and how far off.

    python local_reports.py VALUES.npy K EPSILON PEOPLE SECONDS

`VALUES.npy` has whole numbers below K. Cohorts of PEOPLE are asked one after another until all values or SECONDS for
a protocol are used up, at least one. Printed is, as JSON, for each protocol: reports a second, reports a second turned
into estimates, and the mean squared error of each cohort's frequencies.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles import GRR, HE, LH, SS, UE
from pure_ldp.frequency_oracles import (
    DEClient,
    DEServer,
    FastLHClient,
    FastLHServer,
    HadamardMechClient,
    HadamardMechServer,
    HadamardResponseClient,
    HadamardResponseServer,
    HEClient,
    HEServer,
    LHClient,
    LHServer,
    UEClient,
    UEServer,
)

Values = np.ndarray[Any, np.dtype[np.int64]]
Protocol = tuple[Callable[[Values], Any], Callable[[Any], Any]]


def pure_ldp(k: int, epsilon: float) -> Iterator[tuple[str, Protocol]]:
    """Estimates are without bias, as they come."""

    def same(value: int) -> int:
        return value

    def protocol(client: Any, make_server: Callable[[], Any]) -> Protocol:
        def estimates(reports: list[Any]) -> Any:
            server = make_server()
            for report in reports:
                server.aggregate(report)
            counts = server.estimate_all(range(k), suppress_warnings=True)
            return np.asarray(counts, dtype=np.float64) / len(reports)

        return lambda values: [client.privatise(value) for value in values.tolist()], estimates

    for name, optimised in (("OUE", True), ("SUE", False)):
        yield (
            name,
            protocol(
                UEClient(epsilon, k, use_oue=optimised, index_mapper=same),
                partial(UEServer, epsilon, k, use_oue=optimised, index_mapper=same),
            ),
        )
    yield (
        "OLH",
        protocol(
            LHClient(epsilon, k, use_olh=True, index_mapper=same),
            lambda: LHServer(epsilon, k, use_olh=True, index_mapper=same),
        ),
    )
    hashes = FastLHServer(epsilon, k, k=1000, use_olh=True, index_mapper=same).hash_matrix
    yield (
        "fast OLH",
        protocol(
            FastLHClient(epsilon, k, k=1000, use_olh=True, index_mapper=same),
            lambda: FastLHServer(epsilon, k, k=1000, use_olh=True, index_mapper=same, hash_matrix=hashes),
        ),
    )
    hadamard = HadamardResponseServer(epsilon, k, index_mapper=same)
    yield (
        "Hadamard response",
        protocol(
            HadamardResponseClient(epsilon, k, hadamard.get_hash_funcs(), index_mapper=same),
            lambda: HadamardResponseServer(epsilon, k, index_mapper=same),
        ),
    )
    yield (
        "Hadamard mechanism",
        protocol(
            HadamardMechClient(epsilon, k, t=1, index_mapper=same),
            lambda: HadamardMechServer(epsilon, k, t=1, index_mapper=same),
        ),
    )
    yield (
        "direct (GRR)",
        protocol(DEClient(epsilon, k, index_mapper=same), lambda: DEServer(epsilon, k, index_mapper=same)),
    )
    yield (
        "THE",
        protocol(
            HEClient(epsilon, k, index_mapper=same),
            lambda: HEServer(epsilon, k, use_the=True, index_mapper=same),
        ),
    )


def multi_freq(k: int, epsilon: float) -> Iterator[tuple[str, Protocol]]:
    """Estimates are cut off at 0 and divided by their sum: there is no other kind."""

    def reports(client: Callable[..., Any], *extra: Any) -> Callable[[Values], Any]:
        return lambda values: [client(value, k, epsilon, *extra) for value in values.tolist()]

    yield "GRR", (reports(GRR.GRR_Client), lambda told: GRR.GRR_Aggregator_MI(told, k, epsilon))
    yield "OUE", (reports(UE.UE_Client, True), lambda told: UE.UE_Aggregator_MI(told, epsilon, True))
    yield "SUE", (reports(UE.UE_Client, False), lambda told: UE.UE_Aggregator_MI(told, epsilon, False))
    yield "OLH", (reports(LH.LH_Client, True), lambda told: LH.LH_Aggregator_MI(told, k, epsilon, True))
    yield "subset selection", (reports(SS.SS_Client), lambda told: SS.SS_Aggregator_MI(told, k, epsilon))
    yield "THE", (reports(HE.HE_Client), lambda told: HE.HE_Aggregator_MI(told, k, epsilon, True))


def measured(protocol: Protocol, cohorts: list[Values], k: int, seconds: float) -> dict[str, Any]:
    sample, estimate = protocol
    # Once for nothing: some of it is compiled when it is first run.
    estimate(sample(cohorts[0][:200]))
    client, server, errors = 0.0, 0.0, []
    for values in cohorts:
        started = time.perf_counter()
        told = sample(values)
        between = time.perf_counter()
        found = estimate(told)
        client, server = client + between - started, server + time.perf_counter() - between
        true = np.bincount(values, minlength=k) / values.size
        errors.append(float(np.square(found - true).mean()))
        if client + server > seconds:
            break
    people = len(errors) * cohorts[0].size
    return {"client": people / client, "server": people / server, "errors": errors}


def main(path: str, k: int, epsilon: float, people: int, seconds: float) -> None:
    cohorts = np.split(np.load(path), range(people, len(np.load(path)), people))
    found = {}
    for library, protocols in (("pure-ldp", pure_ldp), ("multi-freq-ldpy", multi_freq)):
        for name, protocol in protocols(k, epsilon):
            print("·", library, name, k, file=sys.stderr, flush=True)
            found[f"{library}: {name}"] = measured(protocol, cohorts, k, seconds)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
