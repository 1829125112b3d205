// Recurrent layers.
#include "hlod/nn/recurrent.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlod/control.h"
#include "hlod/ops/activation.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/dropout.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/random.h"
#include "hlod/ops/shape.h"

namespace hlod::nn {
namespace {

int64_t Gates(RecurrentKind kind) {
  return kind == RecurrentKind::kLstm ? 4 : kind == RecurrentKind::kGru ? 3 : 1;
}

Tensor WithinHidden(DimList dims, int64_t hidden) {
  const double bound = hidden > 0 ? 1 / std::sqrt(static_cast<double>(hidden)) : 0;
  return Uniform(dims, -bound, bound);
}

Recurrent::Weights MakeWeights(RecurrentKind kind, int64_t input, int64_t hidden, bool with_bias) {
  const int64_t rows = Gates(kind) * hidden;
  Recurrent::Weights weights = {WithinHidden({rows, input}, hidden), WithinHidden({rows, hidden}, hidden)};
  if (with_bias) {
    weights.bias_ih = WithinHidden({rows}, hidden);
    weights.bias_hh = WithinHidden({rows}, hidden);
  }
  return weights;
}

// One step from what the input gives to all gates and the state before.
RecurrentState Advance(RecurrentKind kind, const Tensor& from_input, const RecurrentState& before,
                       const Tensor& weight_hh, const Tensor& bias_hh) {
  const Tensor from_hidden = hlod::Linear(before.hidden, weight_hh, bias_hh);
  switch (kind) {
    case RecurrentKind::kTanh: return {Tanh(from_input + from_hidden)};
    case RecurrentKind::kRelu: return {Relu(from_input + from_hidden)};
    case RecurrentKind::kLstm: {  // Input, forget, cell, output.
      const std::vector<Tensor> gates = Chunk(from_input + from_hidden, 4, -1);
      const Tensor cell = Sigmoid(gates[1]) * before.cell + Sigmoid(gates[0]) * Tanh(gates[2]);
      return {Sigmoid(gates[3]) * Tanh(cell), cell};
    }
    case RecurrentKind::kGru: {  // Reset, update, new.
      const std::vector<Tensor> x = Chunk(from_input, 3, -1), h = Chunk(from_hidden, 3, -1);
      const Tensor update = Sigmoid(x[1] + h[1]);
      const Tensor candidate = Tanh(x[2] + Sigmoid(x[0] + h[0]) * h[2]);
      return {candidate + update * (before.hidden - candidate)};
    }
  }
  return before;
}

// A direction of a layer over a sequence [length, n, ...] of what the input gives to all gates: its outputs
// where their inputs lie, and the last state.
std::pair<Tensor, RecurrentState> Run(RecurrentKind kind, const Tensor& from_input,
                                      const RecurrentState& initial, const Recurrent::Weights& w,
                                      bool reverse, const Caller& caller) {
  using State = std::vector<Tensor>;  // Hidden, and the cell where there is one.
  // Under autocast the gates' type is what each step gives.
  State first = {initial.hidden.To(from_input.dtype())};
  if (initial.cell.defined()) first.push_back(initial.cell.To(from_input.dtype()));
  const auto step = [&](const State& before, const Tensor& x) {
    const RecurrentState next =
        Advance(kind, x, {before[0], before.size() > 1 ? before[1] : Tensor()}, w.weight_hh, w.bias_hh);
    return std::pair(next.cell.defined() ? State{next.hidden, next.cell} : State{next.hidden}, next.hidden);
  };
  const auto [last, outputs] = Scan(step, first, from_input, {.reverse = reverse}, caller);
  return {outputs, {last[0], last.size() > 1 ? last[1] : Tensor()}};
}

Tensor ZerosLike(const Tensor& x, Dims dims) {
  return Zeros(dims, {.type = x.dtype(), .device = x.device()});
}

}  // namespace

RecurrentCell::RecurrentCell(Module& parent, std::string name, RecurrentKind kind, int64_t input,
                             int64_t hidden, bool with_bias)
    : Module(parent, std::move(name)), kind_(kind) {
  const Recurrent::Weights made = MakeWeights(kind, input, hidden, with_bias);
  weight_ih = made.weight_ih;
  weight_hh = made.weight_hh;
  bias_ih = made.bias_ih;
  bias_hh = made.bias_hh;
  RegisterParameter("weight_ih", weight_ih);
  RegisterParameter("weight_hh", weight_hh);
  RegisterParameter("bias_ih", bias_ih);
  RegisterParameter("bias_hh", bias_hh);
}

RecurrentState RecurrentCell::Step(const Tensor& x, const RecurrentState& state) const {
  RecurrentState before = state;
  Dims dims = x.dims();
  dims.back() = weight_hh.size(1);
  if (!before.hidden.defined()) before.hidden = ZerosLike(x, dims);
  if (!before.cell.defined() && kind_ == RecurrentKind::kLstm) before.cell = ZerosLike(x, dims);
  return Advance(kind_, hlod::Linear(x, weight_ih, bias_ih), before, weight_hh, bias_hh);
}

Recurrent::Recurrent(Module& parent, std::string name, RecurrentKind kind, int64_t input, int64_t hidden,
                     RecurrentOptions options)
    : Module(parent, std::move(name)), kind_(kind), hidden_(hidden), options_(options) {
  const int64_t directions = options.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    for (int64_t direction = 0; direction < directions; ++direction) {
      weights.push_back(
          MakeWeights(kind, layer == 0 ? input : hidden * directions, hidden, options.with_bias));
    }
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto layer = static_cast<int64_t>(i) / directions;
    const std::string end = absl::StrCat("_l", layer, i % directions != 0 ? "_reverse" : "");
    RegisterParameter("weight_ih" + end, weights[i].weight_ih);
    RegisterParameter("weight_hh" + end, weights[i].weight_hh);
    RegisterParameter("bias_ih" + end, weights[i].bias_ih);
    RegisterParameter("bias_hh" + end, weights[i].bias_hh);
  }
}

RecurrentResult Recurrent::operator()(const Tensor& x, const RecurrentState& state, Caller caller) const {
  const CallerScope scope(caller);

  const bool batched = x.rank() == 3, batch_first = options_.batch_first && batched,
             lstm = kind_ == RecurrentKind::kLstm;
  // The state of layer i: [n, hidden].
  const auto initial = [&](const Tensor& all, size_t i, const Tensor& sequence) {
    if (!all.defined()) return ZerosLike(sequence, {sequence.size(1), hidden_});
    const Tensor one = all.Select(0, static_cast<int64_t>(i));
    return batched ? one : one.Unsqueeze(0);
  };
  Tensor sequence = batch_first ? x.Transpose(0, 1) : batched ? x : x.Unsqueeze(1);
  const size_t directions = options_.bidirectional ? 2 : 1;
  std::vector<Tensor> hidden, cells;
  for (size_t i = 0; i < weights.size(); i += directions) {
    if (i > 0 && options_.dropout > 0) sequence = hlod::Dropout(sequence, options_.dropout, training());
    std::vector<Tensor> sides;
    for (size_t direction = 0; direction < directions; ++direction) {
      const Weights& w = weights[i + direction];
      const Tensor from_input = hlod::Linear(sequence, w.weight_ih, w.bias_ih);
      RecurrentState first = {initial(state.hidden, i + direction, sequence)};
      if (lstm) first.cell = initial(state.cell, i + direction, sequence);
      const auto [outputs, last] = Run(kind_, from_input, first, w, direction == 1, caller);
      sides.push_back(outputs);
      hidden.push_back(last.hidden);
      if (lstm) cells.push_back(last.cell);
    }
    sequence = Cat(sides, -1);
  }
  const auto stacked = [&](const std::vector<Tensor>& each) {
    const Tensor all = Stack(each);
    return batched ? all : all.Squeeze(1);
  };
  RecurrentResult result;
  result.output = batch_first ? sequence.Transpose(0, 1) : batched ? sequence : sequence.Squeeze(1);
  result.state.hidden = stacked(hidden);
  if (lstm) result.state.cell = stacked(cells);
  return result;
}

}  // namespace hlod::nn
