#!/usr/bin/env python3
"""Layers of PyTorch with their weights, inputs and outputs: writes layers.json beside this file.

Needs Debian's python3-torch. The weights are random, from one seed.
"""
import json
import pathlib

import torch

torch.manual_seed(0)
cases = {}


def tensor(x):
    return {"dims": list(x.shape), "values": x.detach().flatten().tolist()}


def case(name, module, *inputs):
    output = module(*inputs)
    output = output[0] if isinstance(output, tuple) else output
    state = {name: tensor(value) for name, value in module.state_dict().items()}
    cases[name] = {"state": state, "inputs": [tensor(x) for x in inputs], "output": tensor(output)}


def with_random_weights(module):
    for parameter in module.parameters():
        parameter.data = torch.randn(parameter.shape)
    return module


case("linear", torch.nn.Linear(5, 3), torch.randn(2, 5))
case("embedding", torch.nn.Embedding(7, 4), torch.randint(0, 7, (2, 3)))
case("layer_norm", with_random_weights(torch.nn.LayerNorm([4])), torch.randn(2, 3, 4))
batch_norm = with_random_weights(torch.nn.BatchNorm2d(3))
batch_norm.running_mean, batch_norm.running_var = torch.randn(3), torch.rand(3) + 0.5
case("batch_norm", batch_norm.eval(), torch.randn(2, 3, 2, 2))
case("conv", torch.nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), torch.randn(2, 4, 5, 5))
case("attention", torch.nn.MultiheadAttention(8, 2, batch_first=True),
     torch.randn(2, 3, 8), torch.randn(2, 4, 8), torch.randn(2, 4, 8))
case("sequential", torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2)),
     torch.randn(5, 3))

path = pathlib.Path(__file__).with_name("layers.json")
path.write_text(json.dumps(cases, separators=(",", ":")).replace('},"', '},\n"') + "\n")
print(f"{path.name}: {path.stat().st_size} bytes")
