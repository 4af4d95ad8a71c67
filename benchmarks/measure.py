"""Measure one accountant on one case in one process: CPU time without imports, peak memory including them, with limits.

Run as a module with a request as its argument, this file is that process. `measure` starts it and reads its output.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module

from benchmarks.cases import KINDS, Case, Training
from benchmarks.subjects import BY_NAME, Answer, Subject

MOST_MEMORY = 10 << 30
ENOUGH = 5.0
"""CPU seconds after which no further run is timed."""

WARM_UP = Training(0.5, 5.0, 2, 1e-3, 0.1)


@dataclass(frozen=True, slots=True)
class Measured:
    """An accountant's claim, its best CPU time in seconds and its peak memory in MB; or what went wrong."""

    lower: float = math.nan
    upper: float = math.nan
    cpu: float = math.nan
    runs: int = 0
    memory: float = math.nan
    trouble: str = ""


def measure(subject: Subject, case: Case, *, repeat: int = 7, limit: float = 300.0) -> Measured:
    """Measure in a new process. BLAS uses one thread there, because the comparison is about work, not cores."""
    request = json.dumps({"subject": subject.name, "kind": type(case).__name__, "case": asdict(case), "repeat": repeat})
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "benchmarks.measure", request]
    try:
        done = subprocess.run(
            command, env=os.environ | threads, capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return Measured(trouble=f"no answer in {limit:g} s")
    if done.returncode != 0:
        return Measured(trouble=(done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def best_time(question: Callable[[], Answer], *, repeat: int) -> tuple[Answer, float, int]:
    """The answer, the smallest CPU time, and the number of runs. Sitr's caches are cleared before each run."""
    times: list[float] = []
    while not times or (len(times) < repeat and sum(times) < ENOUGH):
        forget()
        start = time.process_time()
        answer = question()
        times.append(time.process_time() - start)
    return answer, min(times), len(times)


def forget() -> None:
    """Clear every cache of Sitr, so that the next run does all the work again."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "sitr":
            for value in vars(module).values():
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()


def import_seconds(statement: str, *, repeat: int = 5) -> float:
    """The smallest CPU time of an import in a new process, without the start of the interpreter."""
    code = f"import time; start = time.process_time(); {statement}; print(time.process_time() - start)"
    command = [sys.executable, "-W", "ignore", "-c", code]
    times = []
    for _ in range(repeat):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return math.nan
        times.append(float(done.stdout.splitlines()[-1]))
    return min(times)


def _serve(request: str) -> Measured:
    wanted = json.loads(request)
    subject, case = BY_NAME[wanted["subject"]], KINDS[wanted["kind"]](**wanted["case"])
    warnings.simplefilter("ignore")
    try:
        for module in subject.modules:
            import_module(module)
        question = subject.ask(case)
        if question is None:
            return Measured(trouble="cannot be asked")
        subject.training(WARM_UP)
        (lower, upper), cpu, runs = best_time(question, repeat=wanted["repeat"])
    except ModuleNotFoundError as error:
        return Measured(trouble=f"{error.name} is not installed")
    except MemoryError:
        return Measured(trouble=f"more than {MOST_MEMORY >> 30} GiB of memory")
    except Exception as error:  # noqa: BLE001 - any exception of another library is its answer
        return Measured(trouble=f"{type(error).__name__}: {error}".splitlines()[0][:100])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(lower, upper, cpu, runs, peak)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    sys.stdout.write("\n" + json.dumps(asdict(_serve(sys.argv[1]))) + "\n")
