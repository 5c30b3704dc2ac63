# SPDX-License-Identifier: Apache-2.0
"""Models by name of op. A model makes up a call: model(g) with g a generator.Generator."""

MODELS = {}
WEIGHTS = {}

# Ops composed of others: they have no form in place, and where the output goes cannot be asked.
COMPOSED = set("""
    square tan sinh cosh asinh acosh atanh log2 log10 logsigmoid softsign tanhshrink relu6
    hardsigmoid hardswish selu celu prelu threshold hardshrink softshrink trunc logical_xor isnan
    isinf isposinf isneginf split chunk depth_to_space space_to_depth conv_backward instance_norm
    """.split())


def model(*names, weight=1.0):
    """Registers a function as the model of these ops; it is called with the name if there are
    several. Ops that are all alike weigh less, those with more that can go wrong weigh more."""
    def register(function):
        for name in names:
            if name in MODELS:
                raise ValueError("two models of " + name)
            WEIGHTS[name] = weight
            MODELS[name] = (lambda g, n=name: function(g, n)) if len(names) > 1 else function
        return function
    return register


def attr(name, value):
    """The text of an attribute; none of None."""
    if value is None:
        return None
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, (list, tuple)):
        text = ",".join(str(int(v)) for v in value)
    else:
        text = str(value) if isinstance(value, (int, str)) else repr(float(value))
    return "%s=%s" % (name, text)
