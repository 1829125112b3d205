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


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [t for part in value for t in flat(part)]


def case(name, module, *inputs):
    output = module(*inputs)
    rest = flat(output[1:]) if isinstance(output, tuple) and "attention" not in name else []
    output = output[0] if isinstance(output, tuple) else output
    state = {name: tensor(value) for name, value in module.state_dict().items()}
    cases[name] = {"state": state, "inputs": [tensor(x) for x in flat(inputs)], "output": tensor(output)}
    if rest:  # A recurrent layer also returns its states.
        cases[name]["rest"] = [tensor(x) for x in rest]
        sum((x * x).sum() for x in [output] + rest).backward()
        cases[name]["gradients"] = {name: tensor(x.grad) for name, x in module.named_parameters()}


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


# Layers that came later, so that those before keep their numbers.
case("group_norm", with_random_weights(torch.nn.GroupNorm(2, 4)), torch.randn(2, 4, 3))
case("instance_norm", with_random_weights(torch.nn.InstanceNorm2d(3, affine=True)), torch.randn(2, 3, 2, 3))
tracked = torch.nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
tracked.running_mean, tracked.running_var = torch.randn(2), torch.rand(2) + 0.5
case("instance_norm_tracked", tracked.eval(), torch.randn(2, 2, 4))
case("conv_transpose", torch.nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
     torch.randn(2, 4, 3, 3))
case("embedding_bag", torch.nn.EmbeddingBag(7, 3), torch.randint(0, 7, (5,)), torch.tensor([0, 2]))
case("bilinear", torch.nn.Bilinear(3, 4, 2), torch.randn(5, 3), torch.randn(5, 4))
case("prelu", torch.nn.PReLU(3), torch.randn(2, 3, 4))
case("max_pool", torch.nn.MaxPool2d(2, stride=1, padding=1), torch.randn(1, 2, 3, 4))
case("adaptive", torch.nn.AdaptiveAvgPool2d((2, 3)), torch.randn(1, 2, 5, 4))
case("upsample", torch.nn.Upsample(scale_factor=2, mode="bilinear"), torch.randn(1, 2, 2, 3))
case("cross_entropy", torch.nn.CrossEntropyLoss(torch.rand(4), label_smoothing=0.1), torch.randn(3, 4),
     torch.tensor([1, 3, 0]))
case("triplet", torch.nn.TripletMarginLoss(margin=0.5, swap=True), torch.randn(4, 3), torch.randn(4, 3),
     torch.randn(4, 3))
case("rnn_cell", torch.nn.RNNCell(3, 4), torch.randn(2, 3), torch.randn(2, 4))
case("lstm_cell", torch.nn.LSTMCell(3, 4), torch.randn(2, 3), (torch.randn(2, 4), torch.randn(2, 4)))
case("gru_cell", torch.nn.GRUCell(3, 4), torch.randn(2, 3), torch.randn(2, 4))
case("rnn", torch.nn.RNN(3, 4, num_layers=2, nonlinearity="relu"), torch.randn(5, 2, 3), torch.randn(2, 2, 4))
case("lstm", torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True), torch.randn(2, 5, 3))
case("gru", torch.nn.GRU(3, 4, bidirectional=True, bias=False), torch.randn(5, 3), torch.randn(2, 4))
options = {"dim_feedforward": 6, "batch_first": True}
case("encoder_layer", torch.nn.TransformerEncoderLayer(8, 2, **options).eval(), torch.randn(2, 3, 8))
case("encoder", torch.nn.TransformerEncoder(
    torch.nn.TransformerEncoderLayer(8, 2, norm_first=True, activation="gelu", **options), 2,
    torch.nn.LayerNorm(8)).eval(), torch.randn(2, 3, 8))
case("decoder", torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(8, 2, **options), 2).eval(),
     torch.randn(2, 3, 8), torch.randn(2, 4, 8))

# Padding layers, in PyTorch's orders of sides.
for name, pad in {
    "zero_pad": torch.nn.ZeroPad2d((1, 2, 0, -1)),
    "constant_pad": torch.nn.ConstantPad3d((1, 0, 2, 1, 0, 1), 1.5),
    "reflection_pad_1d": torch.nn.ReflectionPad1d((2, 1)),
    "reflection_pad_2d": torch.nn.ReflectionPad2d((1, 2, 0, 1)),
    "reflection_pad_3d": torch.nn.ReflectionPad3d(1),
    "replication_pad_1d": torch.nn.ReplicationPad1d((3, 1)),
    "replication_pad_2d": torch.nn.ReplicationPad2d((1, 2, 0, 3)),
    "replication_pad_3d": torch.nn.ReplicationPad3d((1, 0, 0, 2, 1, 0)),
}.items():
    sizes = (2, 2, 3, 2) if "3" in name else (2, 3, 4) if "2" in name or name == "zero_pad" else (2, 4)
    case(name, pad, torch.randn(1, *sizes) if name != "constant_pad" else torch.randn(2, 1, 2))
# PyTorch 1.13 has the mode, not the layers.
for dims, padding in ((1, (2, 1)), (2, (1, 2, 0, 1)), (3, (1, 0, 0, 1, 1, 0))):
    x = torch.randn(1, 2, *(3, 2, 3)[:dims])
    cases[f"circular_pad_{dims}d"] = {"state": {}, "inputs": [tensor(x)], "output": tensor(torch.nn.functional.pad(x, padding, mode="circular"))}


# Sequences of several lengths. Inputs are padded behind with what must not be seen.
rnn_utils = torch.nn.utils.rnn


def packed_case(name, module, lengths, *state, enforce_sorted=True, steps=5):
    batch_first = module.batch_first
    x = torch.randn(len(lengths), steps, 3) if batch_first else torch.randn(steps, len(lengths), 3)
    packed = rnn_utils.pack_padded_sequence(x, lengths, batch_first=batch_first, enforce_sorted=enforce_sorted)
    output, states = module(packed, *state)
    padded, back = rnn_utils.pad_packed_sequence(output, batch_first=batch_first, total_length=steps)
    rest = flat(states)
    sum((t * t).sum() for t in [padded] + rest).backward()
    numbers = {"lengths": lengths, "batch_sizes": packed.batch_sizes.tolist(), "packed": tensor(packed.data), "output_packed": tensor(output.data)}
    if not enforce_sorted:
        numbers.update(sorted_indices=packed.sorted_indices.tolist(), unsorted_indices=packed.unsorted_indices.tolist())
    assert back.tolist() == lengths
    cases[name] = {
        "state": {name: tensor(value) for name, value in module.state_dict().items()},
        "inputs": [tensor(t) for t in [x] + flat(state)], "output": tensor(padded), "rest": [tensor(t) for t in rest],
        "gradients": {name: tensor(t.grad) for name, t in module.named_parameters()}, "numbers": numbers,
    }


packed_case("packed_rnn", torch.nn.RNN(3, 2, num_layers=2), [4, 2, 1])
packed_case("packed_lstm", torch.nn.LSTM(3, 2, num_layers=2, bidirectional=True, batch_first=True), [2, 4, 1, 4],
            (torch.randn(4, 4, 2), torch.randn(4, 4, 2)), enforce_sorted=False)
packed_case("packed_gru", torch.nn.GRU(3, 2, bidirectional=True), [1, 3, 2], torch.randn(2, 3, 2), enforce_sorted=False)
ragged = [torch.randn(2, 2), torch.randn(3, 2), torch.randn(1, 2)]
cases["pad_sequence"] = {"inputs": [tensor(t) for t in ragged], "output": tensor(rnn_utils.pad_sequence(ragged, padding_value=-1.5)),
                         "batch_first": tensor(rnn_utils.pad_sequence(ragged, batch_first=True)),
                         "packed": tensor(rnn_utils.pack_sequence(ragged, enforce_sorted=False).data)}


# Normalised weights: a call in evaluation, and two while training, which move the power iterations.
def normed_case(name, module, x):
    before = {key: tensor(value) for key, value in module.state_dict().items()}
    module.eval()
    evaluated = tensor(module(x))
    module.train()
    first, second = tensor(module(x)), module(x)
    (second * second).sum().backward()
    cases[name] = {"state": before, "inputs": [tensor(x)], "eval": evaluated, "first": first, "second": tensor(second),
                   "after": {key: tensor(value) for key, value in module.state_dict().items()},
                   "gradients": {key: tensor(value.grad) for key, value in module.named_parameters()}}
    remove = torch.nn.utils.remove_weight_norm if "weight_norm" in name else torch.nn.utils.remove_spectral_norm
    weight = "weight_hh_l0" if "rnn" in name else "weight"
    cases[name]["removed"] = tensor(getattr(remove(module, weight), weight))
    cases[name]["keys"] = list(module.state_dict())


normed_case("weight_norm", torch.nn.utils.weight_norm(torch.nn.Linear(3, 2)), torch.randn(4, 3))
normed_case("weight_norm_conv", torch.nn.utils.weight_norm(torch.nn.Conv1d(2, 3, 2), dim=1), torch.randn(1, 2, 4))
normed_case("weight_norm_all", torch.nn.utils.weight_norm(torch.nn.Linear(3, 2), dim=None), torch.randn(4, 3))
normed_case("spectral_norm", torch.nn.utils.spectral_norm(torch.nn.Linear(3, 2)), torch.randn(4, 3))
normed_case("spectral_norm_transposed", torch.nn.utils.spectral_norm(torch.nn.ConvTranspose1d(2, 3, 2), n_power_iterations=3),
            torch.randn(1, 2, 4))

case("channel_shuffle", torch.nn.ChannelShuffle(3), torch.randn(2, 6, 2, 2))
case("transformer", torch.nn.Transformer(8, 2, 1, 2, 12, dropout=0, batch_first=True).eval(),
     torch.randn(2, 3, 8), torch.randn(2, 4, 8))
case("adaptive_softmax", torch.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2, head_bias=True),
     torch.randn(5, 8), torch.tensor([0, 2, 3, 8, 11]))

path = pathlib.Path(__file__).with_name("layers.json")
path.write_text(json.dumps(cases, separators=(",", ":")).replace('},"', '},\n"') + "\n")
print(f"{path.name}: {path.stat().st_size} bytes")
