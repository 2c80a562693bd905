# SPDX-License-Identifier: MIT
"""The classes that divide the time of ops which work: the makers of profiles know their sum, not how it is divided."""

DIVIDED = ("compute", "below_roofline", "memory_wait", "unexplained")


def is_divided(name):
    return name.removesuffix("_ps") in DIVIDED


def folded(buckets):
    """The buckets with the divided classes as one, working_ps; other keys stand as they are."""
    out = {name: ps for name, ps in buckets.items() if not is_divided(name)}
    out["working_ps"] = sum(ps for name, ps in buckets.items() if is_divided(name))
    return out
