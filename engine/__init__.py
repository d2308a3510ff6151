"""The engine: everything about diagnosing text-generation metrics that is true without a browser."""

import os

# Idle OpenMP threads sleep instead of spinning. Spinning costs a factor of ten in torch as soon as another process or
# another job wants the same cores. The setting is read when torch is loaded, so it has to stand before that.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
