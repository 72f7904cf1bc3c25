"""The forms of a policy, each of which is another program."""

from dataclasses import fields, replace

from bayesduel import policies
from bayesduel.policies.base import is_in_jax


def forms(name):
    """Return the default form and each form with one switch turned."""
    policy = policies.get(name)
    switches = [
        field.name
        for field in fields(policy)
        if field.metadata.get("static")
        and isinstance(getattr(policy, field.name), bool)
    ]
    return [policy] + [
        replace(policy, **{switch: not getattr(policy, switch)}) for switch in switches
    ]


IN_JAX = tuple(name for name in policies.names() if is_in_jax(policies.get(name)))
