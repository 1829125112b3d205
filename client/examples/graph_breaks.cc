// Counts the graphs of several training steps and lists what breaks them. Each model's step runs in three
// modes: lazily, captured as a whole, and cut at Backward() into forward, backward and optimizer. One table
// shows all of them.
//   example_graph_breaks
#include <hlod/tensors.h>
#include <hlod/transform/compare_tracing.h>

#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nn = hlod::nn;
using hlod::Tensor;

// A classifier with a training step as in PyTorch; `print` reads the loss in each step.
struct Classifier : nn::Module {
  nn::Linear up{*this, "up", 64, 128}, down{*this, "down", 128, 10};
  Tensor operator()(const Tensor& x) const { return down(hlod::Relu(up(x))); }
};
std::vector<Tensor> TrainStep(const Classifier& model, const Tensor& x, const Tensor& y, bool print) {
  const Tensor loss = hlod::CrossEntropy(model(x), y);
  if (print && loss.Item<float>() > 100) std::puts("diverged");
  for (Tensor weight : model.Parameters()) weight.ZeroGrad();
  loss.Backward();
  std::vector<Tensor> updated;
  for (const Tensor& weight : model.Parameters()) updated.push_back(weight.Detach() - 0.01 * weight.Grad());
  return updated;
}

// Layers by a loop in C++, and by a scan over stacked weights, with the gradient taken as in JAX.
Tensor Layer(const Tensor& x, const Tensor& w) { return hlod::Tanh(hlod::MatMul(x, w)); }
Tensor ByLoop(const Tensor& x, const Tensor& weights) {
  Tensor h = x;
  for (int64_t i = 0; i < weights.size(0); ++i) h = Layer(h, weights.Select(0, i));
  return hlod::Sum(h);
}
Tensor ByScan(const Tensor& x, const Tensor& weights) {
  const auto body = [](const Tensor& h, const Tensor& w) { return std::pair(Layer(h, w), std::tuple<>()); };
  return hlod::Sum(hlod::Scan(body, x, weights).first);
}

// A transformer block in mixed precision.
Tensor Attention(const Tensor& x, const Tensor& qkv, const Tensor& out) {
  const hlod::Autocast autocast(hlod::kBF16);
  const int64_t size = x.size(-1);
  const Tensor joined = hlod::MatMul(hlod::RmsNorm(x, {size}), qkv);
  const auto part = [&](int64_t i) {
    return joined.Narrow(-1, i * size, size).Reshape({x.size(0), x.size(1), 4, size / 4}).Transpose(1, 2);
  };
  const Tensor mixed = hlod::ScaledDotProductAttention(part(0), part(1), part(2), {.is_causal = true});
  return x + hlod::MatMul(mixed.Transpose(1, 2).Reshape(x.dims()), out);
}

// A step whose C++ code branches on a value, and one that calls a function on the host.
Tensor Clipped(const Tensor& x) {
  const float norm = hlod::Sqrt(hlod::Sum(x * x)).Item<float>();
  return norm > 1 ? x / norm : x;
}
Tensor OnTheHost(const Tensor& x) {
  const auto sorted = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{hlod::Sort(in[0]).values};
  };
  return hlod::Cumsum(hlod::HostFunction("sorted", sorted, {x * x})[0], 0);
}

int main() {
  // The running daemon's device, or that of a private one.
  const hlod::Device device = hlod::DefaultDevice();
  const auto normal = [&](const hlod::Dims& dims) { return 0.1 * hlod::Randn(dims, {.device = device}); };
  Classifier model;
  model.To(device);
  const Tensor images = normal({32, 64}), labels = hlod::Randint(0, 10, {32}, {.device = device});
  const Tensor x = normal({8, 64}), weights = normal({6, 64, 64});
  const Tensor tokens = normal({2, 16, 64}), qkv = normal({64, 192}), out = normal({64, 64}),
               line = normal({1024});
  hlod::Sync();

  const auto train = [&](const Tensor& a, const Tensor& b) { return TrainStep(model, a, b, false); };
  const auto printing = [&](const Tensor& a, const Tensor& b) { return TrainStep(model, a, b, true); };
  const std::vector<std::pair<std::string, hlod::TracingComparison>> models = {
      {"classifier", hlod::CompareTracing(train, std::tuple(images, labels))},
      {"classifier, loss read", hlod::CompareTracing(printing, std::tuple(images, labels))},
      {"layers by loop", hlod::CompareTracing(hlod::ValueAndGrad<1>(ByLoop), std::tuple(x, weights))},
      {"layers by scan", hlod::CompareTracing(hlod::ValueAndGrad<1>(ByScan), std::tuple(x, weights))},
      {"attention", hlod::CompareTracing(Attention, std::tuple(tokens, qkv, out))},
      {"clipped by its norm", hlod::CompareTracing(Clipped, std::tuple(line))},
      {"host function", hlod::CompareTracing(OnTheHost, std::tuple(line))},
  };
  std::printf("%d calls in each way\n%s", models[0].second.calls, hlod::ToTable(models).c_str());
}
