"""Training on the plugin: losses and weights of every step are those of PyTorch's CPU."""

import copy

import torch
import torch_xla
from torch import nn
from torch.nn import functional as f

from support import PluginTest, array, device, integers, main


class Transformer(nn.Module):
    """A small causal language model with tied embeddings."""

    def __init__(self, words=11, width=16, heads=2, layers=2):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(8, width)
        layer = lambda: nn.TransformerEncoderLayer(width, heads, 32, dropout=0, batch_first=True, norm_first=True)
        self.layers = nn.ModuleList(layer() for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, i):
        x = self.words(i) + self.places(torch.arange(i.shape[1], device=i.device))
        mask = nn.Transformer.generate_square_subsequent_mask(i.shape[1], device=i.device)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        return self.norm(x) @ self.words.weight.T


def perceptron():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def convolutional():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(8 * 4, 4),
    )


class Training(PluginTest):

    def trained(self, make, optimizer, x, y, loss=f.cross_entropy, steps=5, step=None, **tolerances):
        """Trains one model in both places and compares the losses and, in the end, the weights."""
        torch.manual_seed(0)
        model = make()
        losses, ends = [], []
        for place in ("cpu", device()):
            here = copy.deepcopy(model).to(place)
            run = (step or self.step)(here, optimizer(here.parameters()), loss)
            losses.append([run(x.to(place), y.to(place)).item() for _ in range(steps)])
            ends.append({name: value.cpu() for name, value in here.state_dict().items() if "running_var" not in name})
        self.assertLess(losses[0][-1], losses[0][0])
        torch.testing.assert_close(torch.tensor(losses[1]), torch.tensor(losses[0]), **(tolerances or dict(rtol=1e-4, atol=1e-4)))
        for name, wanted in ends[0].items():
            self.close(wanted, ends[1][name], **(tolerances or dict(rtol=1e-3, atol=1e-3)))

    @staticmethod
    def step(model, optimizer, loss):
        def run(x, y):
            optimizer.zero_grad()
            value = loss(model(x), y)
            value.backward()
            optimizer.step()
            torch_xla.sync()
            return value

        return run

    def test_models(self):
        adam = lambda parameters: torch.optim.Adam(parameters, 1e-2)
        self.trained(perceptron, adam, array(32, 8), integers(32, low=0, high=4))
        self.trained(convolutional, adam, array(8, 1, 8, 8), integers(8, low=0, high=4), rtol=1e-3, atol=2e-3)
        words = integers(4, 8, low=0, high=11)
        descent = lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9)
        self.trained(Transformer, descent, words, words.roll(-1, 1), lambda z, y: f.cross_entropy(z.flatten(0, 1), y.flatten()))
        lstm = lambda: nn.LSTM(8, 4)
        self.trained(lstm, adam, array(5, 3, 8), array(5, 3, 4), lambda z, y: f.mse_loss(z[0], y))

    def test_optimizers(self):
        makers = {
            "SGD": lambda p: torch.optim.SGD(p, 0.1),
            "momentum": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
            "AdamW": lambda p: torch.optim.AdamW(p, 1e-2),
            "AMSGrad": lambda p: torch.optim.Adam(p, 1e-2, amsgrad=True),
            "Adagrad": lambda p: torch.optim.Adagrad(p, 0.05),
            "Adadelta": lambda p: torch.optim.Adadelta(p, 1.0),
            "Adamax": lambda p: torch.optim.Adamax(p, 1e-2),
            "NAdam": lambda p: torch.optim.NAdam(p, 1e-2),
            "RAdam": lambda p: torch.optim.RAdam(p, 1e-2),
            "RMSprop": lambda p: torch.optim.RMSprop(p, 1e-2, momentum=0.5),
            "ASGD": lambda p: torch.optim.ASGD(p, 0.05),
            "Rprop": lambda p: torch.optim.Rprop(p, 1e-3),
        }
        for name, make in makers.items():
            with self.subTest(name):
                self.trained(perceptron, make, array(16, 8), integers(16, low=0, high=4))

    def test_schedules_clipping_and_accumulation(self):
        def step(model, optimizer, loss):
            schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 8)

            def run(x, y):
                optimizer.zero_grad()
                for part, label in zip(x.chunk(2), y.chunk(2)):
                    value = loss(model(part), label) / 2
                    value.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
                schedule.step()
                torch_xla.sync()
                return value

            return run

        make = lambda p: torch.optim.SGD(p, 0.2)
        self.trained(perceptron, make, array(16, 8), integers(16, low=0, high=4), step=step, steps=6)

    def test_checkpointed_layers(self):
        from torch_xla.utils.checkpoint import checkpoint

        class Checkpointed(nn.Module):

            def __init__(self):
                super().__init__()
                self.inner, self.outer = perceptron(), nn.Linear(8, 8)

            def forward(self, x):
                run = checkpoint if x.device.type == "xla" else (lambda layer, x: layer(x))
                return run(self.inner, self.outer(x))

        self.trained(Checkpointed, lambda p: torch.optim.SGD(p, 0.1), array(16, 8), integers(16, low=0, high=4))

    def test_autocast(self):
        x, w = array(4, 8), array(8, 3)

        def run(x, w):
            with torch.autocast(x.device.type, dtype=torch.bfloat16):
                return x @ w, f.softmax(x @ w, 1), torch.exp(x)

        wanted, got = run(x, w), run(x.to(device()), w.to(device()))
        self.assertEqual([part.dtype for part in got], [torch.bfloat16, torch.float32, torch.float32])
        for left, right in zip(wanted, got):
            torch.testing.assert_close(right.cpu().float(), left.float(), rtol=2e-2, atol=2e-2)

        def step(model, optimizer, loss):
            def run(x, y):
                optimizer.zero_grad()
                with torch.autocast(x.device.type, dtype=torch.bfloat16):
                    value = loss(model(x), y)
                value.backward()
                optimizer.step()
                torch_xla.sync()
                return value

            return run

        make = lambda p: torch.optim.SGD(p, 0.1)
        self.trained(perceptron, make, array(16, 8), integers(16, low=0, high=4), step=step, rtol=2e-2, atol=2e-2)

    def test_a_step_is_compiled_once_and_updates_in_place(self):
        import torch_xla.debug.metrics as metrics

        model = nn.Linear(64, 64).to(device())
        run = self.step(model, torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), f.mse_loss)
        x = y = array(8, 64).to(device())
        for _ in range(3):
            run(x, y)
        torch_xla.sync(wait=True)
        metrics.clear_all()
        for _ in range(4):
            run(x, y)
        torch_xla.sync(wait=True)
        self.assertIsNone(metrics.counter_value("UncachedCompile"))
        self.assertEqual(metrics.counter_value("CachedCompile"), 4)
        memory = torch_xla.core.xla_model.get_memory_info()
        run(x, y)
        torch_xla.sync(wait=True)
        self.assertEqual(torch_xla.core.xla_model.get_memory_info()["bytes_used"], memory["bytes_used"])


if __name__ == "__main__":
    main()
