#!/usr/bin/env python3
"""Trains the small GPT of gpt.cc on the first lines of LICENSE, and writes gpt.safetensors (bf16) and expected.txt,
what PyTorch itself continues the prompt with. Needs Debian's python3-torch.
"""
import json
import math
import pathlib
import struct

import torch
from torch import nn
from torch.nn import functional as F

SIZE, HEADS, LAYERS, LENGTH, FIRST, LETTERS = 48, 4, 2, 64, 32, 95
PROMPT, CONTINUED = '"License" shall mean', 100


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(SIZE), nn.LayerNorm(SIZE)
        self.attention = nn.MultiheadAttention(SIZE, HEADS, batch_first=True)
        self.up, self.down = nn.Linear(SIZE, 4 * SIZE), nn.Linear(4 * SIZE, SIZE)

    def forward(self, x):
        mask = torch.full((x.size(1), x.size(1)), -math.inf).triu(1)
        y = self.norm1(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, SIZE), nn.Embedding(LENGTH, SIZE)
        self.block0, self.block1 = Block(), Block()
        self.norm = nn.LayerNorm(SIZE)

    def forward(self, tokens):
        x = self.letters(tokens) + self.places.weight[: tokens.size(1)]
        return self.norm(self.block1(self.block0(x))) @ self.letters.weight.T


def encode(text):
    return [ord(letter) - FIRST for letter in text]


def generate(model, prompt, count):
    tokens = encode(prompt)
    for _ in range(count):
        window = tokens[-LENGTH:]
        tokens.append(int(model(torch.tensor([window]))[0, -1].argmax()))
    return "".join(chr(token + FIRST) for token in tokens)


def main():
    here = pathlib.Path(__file__).resolve().parent
    text = " ".join((here.parents[2] / "LICENSE").read_text().split())
    text = text[text.index('"License" shall mean'):][:900]
    data = torch.tensor(encode(text))
    torch.manual_seed(0)
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0)
    for step in range(900):
        starts = torch.randint(0, len(data) - LENGTH - 1, (16,))
        starts[0] = 0
        x = torch.stack([data[s:s + LENGTH] for s in starts])
        y = torch.stack([data[s + 1:s + LENGTH + 1] for s in starts])
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * (1 - step / 900)
    print(f"loss {loss.item():.4f}")

    header, data, offset = {}, b"", 0
    for name, tensor in model.state_dict().items():
        rounded = tensor.to(torch.bfloat16)
        tensor.copy_(rounded.float())  # The expected text is computed with the weights as they are saved.
        bytes_ = rounded.contiguous().view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(bytes_)]}
        offset += len(bytes_)
        data += bytes_
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (here / "gpt.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    with torch.no_grad():
        model.eval()
        continued = generate(model, PROMPT, CONTINUED)
    (here / "expected.txt").write_text(continued + "\n")
    print(continued)


main()
