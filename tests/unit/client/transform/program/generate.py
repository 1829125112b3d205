#!/usr/bin/env python3
"""Random programs of views, updates in place, moves between places, detached tensors and gradients, run by PyTorch:
writes programs.json beside this file.

Elements are f64 and stay small whole numbers, so results are exact. There are two places, 0 and 1 (the test takes the
host and a device, either way): PyTorch runs on one, where a move to the other place is a copy. What is computed is made
contiguous, as hlod's tensors of their own always are. Left out is what PyTorch leaves undefined or refuses for reasons
that hlod does not have: a program ends before a Backward() that PyTorch refuses (values that were saved and then
overwritten, graphs that were given up).

Needs Debian's python3-torch (1.13). The same seeds give the same file.
"""
import json
import pathlib
import random
import warnings

import torch

PROGRAMS, LENGTH, TENSORS, LARGEST = 1000, 34, 8, 10**6
warnings.simplefilter("ignore")


class Overlap(Exception):
    pass


def apply_view(x, name, *args):
    if name == "slice":
        dim, start, end, stride = args
        index = [slice(None)] * x.dim()
        index[dim] = slice(start, end, stride)
        return x[tuple(index)]
    return getattr(x, name)(*args)


def view_choices(rng, x):
    """View operations of x, as [name, arguments...]."""
    choices = [["unsqueeze", rng.randrange(-x.dim() - 1, x.dim() + 1)], ["view", [x.numel()]],
               ["expand", [2] + list(x.shape)], ["expand", list(x.shape)]]
    if x.dim() == 0:
        return choices
    dim = rng.randrange(x.dim())
    size = x.size(dim)
    start, end = sorted(rng.sample(range(size + 1), 2)) if size > 0 else (0, 0)
    choices += [["transpose", dim, rng.randrange(x.dim())], ["t_", 0]]
    choices += [["slice", dim, start, end, rng.choice([1, 1, 2, 3])], ["flatten"], ["squeeze"]]
    if size > 0:
        choices += [["select", dim, rng.randrange(-size, size)], ["narrow", dim, start, end - start]]
        window = rng.randrange(1, size + 1)
        choices += [["unfold", dim, window, rng.randrange(1, 3)]]
        # A view of the tensor's own elements.
        sizes = [rng.randrange(1, s + 1) for s in x.shape] if x.numel() > 0 else []
        if sizes:
            choices += [["as_strided", sizes, list(x.stride()), x.storage_offset()]]
    permutation = list(range(x.dim()))
    rng.shuffle(permutation)
    choices += [["permute", permutation], ["reshape", list(reversed(x.shape))]]
    if x.dim() > 1:
        choices += [["diagonal", rng.choice([-1, 0, 1])]]
    if not x._is_view() and x.numel() >= 3:
        # Anywhere in its storage: of a detached view also outside of it.
        count = x.storage().size()
        offset = rng.randrange(count - 1)
        choices += [["as_strided", [2, 2], [rng.choice([0, 1]), 1], min(offset, count - 3)]]
    return [choice for choice in choices if choice[0] != "t_"]


def overlaps(x):
    """Returns True when two indices refer to one element. PyTorch allows writes to such a view, in no order, unless a stride is 0."""
    reach = 0
    for stride, size in sorted((stride, size) for stride, size in zip(x.stride(), x.shape) if size > 1):
        if stride <= reach:
            return x.numel() > 0
        reach += stride * (size - 1)
    return False


def shares(x, y):
    return x.storage().data_ptr() == y.storage().data_ptr()


def same_view(x, y):
    return (x.shape, x.stride(), x.storage_offset()) == (y.shape, y.stride(), y.storage_offset())


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.tensors, self.place, self.steps = {}, {}, []
        self.in_no_grad = False
        self.tainted = set()  # Views that were made in the NoGrad scope that is open: not for use outside of it.
        self.retained = set()
        self.over = False

    def put(self, target, x, place):
        self.tensors[target], self.place[target] = x, place
        self.tainted.discard(target)
        self.retained.discard(target)

    def target(self):
        return self.rng.randrange(TENSORS)

    def pick(self):
        return self.rng.choice(sorted(self.tensors))

    # Steps. Each returns whether it did something.

    def leaf(self):
        dims = [self.rng.randrange(1, 4) for _ in range(self.rng.randrange(1, 4))]
        requires, first, place = self.rng.random() < 0.5, self.rng.randrange(-3, 3), self.rng.randrange(2)
        count = int(torch.tensor(dims).prod())
        x = torch.arange(first, first + count, dtype=torch.float64).reshape(dims).clone()
        x.requires_grad_(requires)
        target = self.target()
        self.put(target, x, place)
        self.steps.append(["leaf", target, place, dims, first, int(requires)])
        return True

    def view(self):
        name = self.pick()
        x = self.tensors[name]
        choice = self.rng.choice(view_choices(self.rng, x))
        try:
            made = apply_view(x, *choice)
        except RuntimeError:
            return False  # view() of strides that do not fit.
        if choice[0] == "reshape" and not shares(x, made):
            return False  # A copy, whose gradients are those of others.
        if made.numel() > 40:
            return False
        target, tainted = self.target(), self.in_no_grad
        self.put(target, made, self.place[name])
        if tainted:
            self.tainted.add(target)
        self.steps.append(["view", target, name] + choice)
        return True

    def in_place(self):
        name, kind = self.pick(), self.rng.choice(["add_", "add_", "mul_", "mul_", "sub_", "copy_", "copy_", "zero_", "fill_"])
        x = self.tensors[name]
        y = None
        if kind == "fill_" or (kind in ("add_", "mul_", "sub_") and self.rng.random() < 0.3):
            argument, step = self.rng.randrange(-2, 3), [kind, name, 0]
            step[2] = argument
            run = lambda: getattr(x, kind)(argument)
        elif kind == "zero_":
            step, run = [kind, name, 0], x.zero_
        else:
            other = self.pick()
            if kind != "copy_" and self.place[other] != self.place[name]:
                return False
            y = self.tensors[other]
            moved = self.place[other] != self.place[name]
            step = [kind + "t", name, other]
            run = lambda: getattr(x, kind)(y.clone() if moved or (shares(x, y) and not same_view(x, y)) else y)
        if self.tainted & ({name} | ({other} if y is not None else set())) and not self.in_no_grad:
            return False
        if overlaps(x) and not any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape)):
            return False
        # A view of a tensor that was updated through another view looks like a leaf until grad_fn is read.
        if name not in self.tainted:
            x.grad_fn
        try:
            if y is not None and shares(x, y) and not same_view(x, y) and self.place[other] == self.place[name]:
                self.check_overlap(x, y, kind)
            run()
        except Overlap:
            self.steps.append(["refused"] + step)
            return True
        except RuntimeError as error:
            text = str(error)
            if "a leaf Variable" in text and self.rng.random() < 0.85:
                return False  # A few of these are enough.
            if "a leaf Variable" in text or "more than one element" in text:
                self.steps.append(["refused"] + step)
                return True
            return False  # Shapes that do not broadcast.
        if x.abs().max() > LARGEST if x.numel() else False:
            self.over = True
        self.retained = {r for r in self.retained if not shares(self.tensors[r], x)}
        self.steps.append(step)
        return True

    def check_overlap(self, x, y, kind):
        """Tries the update on a copy of the storage, because PyTorch may refuse operands that overlap."""
        with torch.no_grad():
            storage = torch.zeros(x.storage().size(), dtype=x.dtype)
            a = storage.as_strided(x.shape, x.stride(), x.storage_offset())
            b = storage.as_strided(y.shape, y.stride(), y.storage_offset())
            try:
                getattr(a, kind)(b)
            except RuntimeError as error:
                if "some elements of the input tensor" in str(error):
                    raise Overlap()
                raise

    def operation(self):
        kind = self.rng.choice(["add", "sub", "mul", "mul", "neg", "sum", "cat"])
        name, other = self.pick(), self.pick()
        if self.tainted & {name, other} or self.place[name] != self.place[other]:
            return False
        x, y = self.tensors[name], self.tensors[other]
        try:
            if kind == "neg":
                made = -x
            elif kind == "sum":
                made = x.sum()
            elif kind == "cat":
                made = torch.cat([x, y], 0)
            else:
                made = getattr(torch, kind)(x, y)
        except RuntimeError:
            return False
        if made.numel() > 40 or (made.numel() and made.abs().max() > LARGEST):
            return False
        target = self.target()
        self.put(target, made.contiguous(), self.place[name])
        self.steps.append([kind, target, name, other])
        return True

    def clone(self):
        name, target = self.pick(), self.target()
        if name in self.tainted:
            return False
        self.put(target, self.tensors[name].clone(memory_format=torch.contiguous_format), self.place[name])
        self.steps.append(["clone", target, name])
        return True

    def move(self):
        name, target = self.pick(), self.target()
        if name in self.tainted:
            return False
        self.put(target, self.tensors[name].clone(memory_format=torch.contiguous_format), 1 - self.place[name])
        self.steps.append(["move", target, name])
        return True

    def detach(self):
        name, target = self.pick(), self.target()
        self.put(target, self.tensors[name].detach(), self.place[name])
        self.steps.append(["detach", target, name])
        return True

    def require(self):
        name = self.pick()
        x = self.tensors[name]
        if self.tainted or x._is_view() or any(v._base is x for v in self.tensors.values()) or not x.is_leaf:
            return False
        requires = self.rng.random() < 0.8
        if requires == x.requires_grad:
            return False
        x.requires_grad_(requires)
        self.steps.append(["require", name, int(requires)])
        return True

    def no_grad(self):
        if self.in_no_grad:
            for name in sorted(self.tainted):
                del self.tensors[name]
                self.steps.append(["free", name])
            self.tainted = set()
        self.in_no_grad = not self.in_no_grad
        torch.set_grad_enabled(not self.in_no_grad)
        self.steps.append(["nograd", int(self.in_no_grad)])
        return True

    def retain(self):
        name = self.pick()
        x = self.tensors[name]
        if self.in_no_grad or not x.requires_grad or x.is_leaf or x._is_view():
            return False
        x.retain_grad()
        self.retained.add(name)
        self.steps.append(["retain", name])
        return True

    def weights(self, x):
        first = self.rng.randrange(-1, 3)
        return first, torch.arange(first, first + x.numel(), dtype=torch.float64).reshape(x.shape)

    def backward(self):
        name = self.pick()
        x = self.tensors[name]
        if name in self.tainted or not x.requires_grad:
            return False
        first, weights = self.weights(x)
        retain = self.rng.random() < 0.7
        try:
            x.backward(weights, retain_graph=retain)
        except RuntimeError:
            self.over = True
            return False
        self.steps.append(["backward", name, first, int(retain)])
        for each in sorted(self.tensors):
            self.gradient(each)
        return True

    def grad_of_grad(self):
        """The gradient of one by another as a tensor that has gradients itself."""
        if self.in_no_grad or self.tainted:
            return False
        name, by = self.pick(), self.pick()
        x, w = self.tensors[name], self.tensors[by]
        if not x.requires_grad or not w.requires_grad or not w.is_leaf or w._is_view() or self.place[name] != self.place[by]:
            return False
        first, weights = self.weights(x)
        try:
            made = torch.autograd.grad(x, w, weights, create_graph=True, allow_unused=True)[0]
        except RuntimeError:
            self.over = True
            return False
        if made is None or (made.numel() and made.abs().max() > LARGEST):
            self.over = True
            return False
        target = self.target()
        self.put(target, made.contiguous(), self.place[by])
        self.steps.append(["gradient_of", target, name, by, first])
        return True

    def zero_grad(self):
        name = self.pick()
        if name in self.tainted or not self.tensors[name].is_leaf or self.tensors[name].grad is None:
            return False
        self.tensors[name].grad = None
        self.steps.append(["zero_grad", name])
        return True

    def free(self):
        if len(self.tensors) < 3:
            return False
        name = self.pick()
        del self.tensors[name]
        self.tainted.discard(name)
        self.retained.discard(name)
        self.steps.append(["free", name])
        return True

    def sync(self):
        self.steps.append(["sync"])
        return True

    # Checks.

    def gradient(self, name):
        x = self.tensors[name]
        if name in self.tainted or not ((x.is_leaf and x.requires_grad) or name in self.retained):
            return
        grad = None if x.grad is None else [int(v) for v in x.grad.flatten().tolist()]
        if grad and max(map(abs, grad)) > LARGEST:
            self.over = True
        self.steps.append(["grad", name, grad])

    def read(self, name):
        x = self.tensors[name].detach()
        self.steps.append(["read", name, list(x.shape), [int(v) for v in x.flatten().tolist()]])
        if name not in self.tainted:
            y = self.tensors[name]
            self.steps.append(["state", name, int(y.requires_grad), int(y.is_leaf)])

    def check(self):
        self.read(self.pick())
        return True

    def run(self):
        kinds = {self.leaf: 1, self.view: 9, self.in_place: 8, self.operation: 6, self.clone: 1, self.move: 2,
                 self.detach: 2, self.require: 2, self.no_grad: 1, self.retain: 3, self.backward: 4,
                 self.grad_of_grad: 3, self.zero_grad: 1, self.free: 1, self.sync: 1, self.check: 2}
        for _ in range(3):
            self.leaf()
        for _ in range(400):
            if self.over or len(self.steps) >= LENGTH:
                break
            self.rng.choices(list(kinds), list(kinds.values()))[0]() if self.tensors else self.leaf()
        if not self.over:
            for name in sorted(self.tensors):
                self.read(name)
                self.gradient(name)
        torch.set_grad_enabled(True)
        return self.steps


path = pathlib.Path(__file__).with_name("programs.json")
programs = [Program(seed).run() for seed in range(PROGRAMS)]
path.write_text("[\n" + ",\n".join(json.dumps(steps, separators=(",", ":")) for steps in programs) + "\n]\n")
kinds = {}
for step in sum(programs, []):
    kinds[step[0]] = kinds.get(step[0], 0) + 1
print(f"{path.name}: {PROGRAMS} programs, {path.stat().st_size} bytes, {kinds}")
