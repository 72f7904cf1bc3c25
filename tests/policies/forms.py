"""The forms of a policy, each of which is another program."""

from dataclasses import fields, replace

from bayesduel import policies
from bayesduel.policies.base import Policy


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


def is_in_jax(name):
    """Say whether a registered policy is written for JAX, and not as a kernel alone."""
    return type(policies.get(name)).choose is not Policy.choose


IN_JAX = tuple(filter(is_in_jax, policies.names()))
