// Recurrent layers.
#include "hlod/nn/recurrent.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/nn/packed.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/activation.h"
#include "hlod/ops/nn/dropout.h"
#include "hlod/ops/random.h"
#include "hlod/ops/shape.h"
#include "hlod/transform/control.h"

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

// Computes one step from the input's part of all gates and the state before.
RecurrentState Advance(RecurrentKind kind, const Tensor& from_input, const RecurrentState& before,
                       const Tensor& weight_hh, const Tensor& bias_hh) {
  const Tensor from_hidden = hlod::Linear(before.hidden, weight_hh, bias_hh);
  switch (kind) {
    case RecurrentKind::kTanh: return {Tanh(from_input + from_hidden)};
    case RecurrentKind::kRelu: return {Relu(from_input + from_hidden)};
    case RecurrentKind::kLstm: {  // The gates: input, forget, cell, output.
      const std::vector<Tensor> gates = Chunk(from_input + from_hidden, 4, -1);
      const Tensor cell = Sigmoid(gates[1]) * before.cell + Sigmoid(gates[0]) * Tanh(gates[2]);
      return {Sigmoid(gates[3]) * Tanh(cell), cell};
    }
    case RecurrentKind::kGru: {  // The gates: reset, update, new.
      const std::vector<Tensor> x = Chunk(from_input, 3, -1), h = Chunk(from_hidden, 3, -1);
      const Tensor update = Sigmoid(x[1] + h[1]);
      const Tensor candidate = Tanh(x[2] + Sigmoid(x[0] + h[0]) * h[2]);
      return {candidate + update * (before.hidden - candidate)};
    }
  }
  return before;
}

// Runs one direction of a layer over a sequence [length, n, ...] of the input's part of all gates. Returns
// the outputs at the places of their inputs, and the last state. Where `mask` is false, the state stays and
// the output is zero: in reverse, a sequence that is padded at its end begins at its own last step.
std::pair<Tensor, RecurrentState> Run(RecurrentKind kind, const Tensor& from_input,
                                      const RecurrentState& initial, const Recurrent::Weights& w,
                                      const Tensor& mask, bool reverse, const Caller& caller) {
  using State = std::vector<Tensor>;  // The hidden state, and the cell if there is one.
  // Under autocast each step returns the gates' type.
  State first = {initial.hidden.To(from_input.dtype())};
  if (initial.cell.defined()) first.push_back(initial.cell.To(from_input.dtype()));
  std::vector<Tensor> slices = {from_input};
  if (mask.defined()) slices.push_back(mask);
  const auto step = [&](const State& before, const std::vector<Tensor>& x) {
    const RecurrentState next =
        Advance(kind, x[0], {before[0], before.size() > 1 ? before[1] : Tensor()}, w.weight_hh, w.bias_hh);
    State after = {next.hidden};
    if (next.cell.defined()) after.push_back(next.cell);
    if (x.size() == 1) return std::pair(after, next.hidden);
    for (size_t i = 0; i < after.size(); ++i) after[i] = Where(x[1], after[i], before[i]);
    return std::pair(after, Where(x[1], next.hidden, 0.0));
  };
  const auto [last, outputs] = Scan(step, first, slices, {.reverse = reverse}, caller);
  return {outputs, {last[0], last.size() > 1 ? last[1] : Tensor()}};
}

Tensor ZerosLike(const Tensor& x, Dims dims) {
  return Zeros(dims, {.type = x.dtype(), .device = x.device()});
}

// Returns the mask [length, n, 1] of the steps that sequences [length, n, ...] of `lengths` [n] have.
Tensor Mask(const Tensor& sequence, const Tensor& lengths) {
  const Tensor steps = Arange(0, sequence.size(0), 1, {.type = kS64, .device = sequence.device()});
  return Lt(steps.Unsqueeze(1), lengths).Unsqueeze(-1);
}

// Convert the results of a call to the list that hooks see, and back.
std::vector<Tensor> Listed(Tensor output, Tensor hidden, Tensor cell) {
  return {std::move(output), std::move(hidden), std::move(cell)};
}
RecurrentResult Results(const std::vector<Tensor>& all) { return {all[0], {all[1], all[2]}}; }

}  // namespace

RecurrentCell::RecurrentCell(Module& parent, PartName name, RecurrentKind kind, int64_t input, int64_t hidden,
                             bool with_bias)
    : Module(parent, std::move(name), "recurrent_cell",
             {{"input", input, Limit::kNotNegative}, {"hidden", hidden, Limit::kNotNegative}}),
      kind_(kind) {
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

Recurrent::Recurrent(Module& parent, PartName name, RecurrentKind kind, int64_t input, int64_t hidden,
                     RecurrentOptions options)
    : Module(parent, std::move(name), "recurrent",
             {{"input", input, Limit::kNotNegative},
              {"hidden", hidden, Limit::kPositive},
              {"layers", options.layers, Limit::kPositive},
              {"dropout", options.dropout, Limit::kUpToOne}}),
      dropout(options.dropout),
      kind_(kind),
      hidden_(hidden),
      options_(options) {
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

RecurrentResult Recurrent::Unroll(Tensor sequence, const RecurrentState& state, const Tensor& mask,
                                  const Caller& caller) const {
  const bool lstm = kind_ == RecurrentKind::kLstm;
  // The state of layer i: [n, hidden].
  const auto initial = [&](const Tensor& all, size_t i) {
    if (!all.defined()) return ZerosLike(sequence, {sequence.size(1), hidden_});
    return all.Select(0, static_cast<int64_t>(i));
  };
  const size_t directions = options_.bidirectional ? 2 : 1;
  std::vector<Tensor> hidden, cells;
  for (size_t i = 0; i < weights.size(); i += directions) {
    if (i > 0 && dropout > 0) sequence = hlod::Dropout(sequence, dropout, training());
    std::vector<Tensor> sides;
    for (size_t direction = 0; direction < directions; ++direction) {
      const Weights& w = weights[i + direction];
      const Tensor from_input = hlod::Linear(sequence, w.weight_ih, w.bias_ih);
      RecurrentState first = {initial(state.hidden, i + direction)};
      if (lstm) first.cell = initial(state.cell, i + direction);
      const auto [outputs, last] = Run(kind_, from_input, first, w, mask, direction == 1, caller);
      sides.push_back(outputs);
      hidden.push_back(last.hidden);
      if (lstm) cells.push_back(last.cell);
    }
    sequence = Cat(sides, -1);
  }
  return {sequence, {Stack(hidden), lstm ? Stack(cells) : Tensor()}};
}

RecurrentResult Recurrent::operator()(const Tensor& x, const RecurrentState& state, Caller caller) const {
  return Results(ForwardAll(caller, {x, state.hidden, state.cell}, [&](Tensors in) {
    const bool batched = in[0].rank() == 3, batch_first = options_.batch_first && batched;
    const auto with_batch = [&](const Tensor& each) {
      return batched || !each.defined() ? each : each.Unsqueeze(1);
    };
    const RecurrentResult result = Unroll(batch_first ? in[0].Transpose(0, 1) : with_batch(in[0]),
                                          {with_batch(in[1]), with_batch(in[2])}, Tensor(), caller);
    const auto without = [&](const Tensor& each) {
      return batched || !each.defined() ? each : each.Squeeze(1);
    };
    return Listed(batch_first ? result.output.Transpose(0, 1) : without(result.output),
                  without(result.state.hidden), without(result.state.cell));
  }));
}

PackedRecurrentResult Recurrent::operator()(const utils::rnn::PackedSequence& x, const RecurrentState& state,
                                            Caller caller) const {
  utils::rnn::PackedSequence output = x;
  const RecurrentResult result =
      Results(ForwardAll(caller, {x.data, state.hidden, state.cell}, [&](Tensors in) {
        output.data = in[0];
        const utils::rnn::PaddedSequence padded =
            utils::rnn::PadPackedSequence(output, false, 0.0, {}, caller);
        const Tensor lengths = FromValues<int64_t>(padded.lengths, {}, in[0].device(), caller);
        const RecurrentResult all =
            Unroll(padded.padded, {in[1], in[2]}, Mask(padded.padded, lengths), caller);
        return Listed(utils::rnn::PackedAs(all.output, output, caller).data, all.state.hidden,
                      all.state.cell);
      }));
  output.data = result.output;
  return {output, result.state};
}

RecurrentResult Recurrent::WithLengths(const Tensor& x, const Tensor& lengths, const RecurrentState& state,
                                       Caller caller) const {
  return Results(ForwardAll(caller, {x, state.hidden, state.cell}, [&](Tensors in) {
    const int64_t batch = options_.batch_first ? 0 : 1;
    if (in[0].rank() != 3 || !hlo::IsInteger(lengths.dtype()) || lengths.dims() != Dims{in[0].size(batch)}) {
      Refuse(absl::StrCat("lengths ", hlo::ToStringNoLayout(lengths.shape()),
                          " are not a whole number for "
                          "each sequence of ",
                          hlo::ToStringNoLayout(in[0].shape())),
             "recurrent", caller);
    }
    const Tensor sequence = options_.batch_first ? in[0].Transpose(0, 1) : in[0];
    const RecurrentResult result = Unroll(sequence, {in[1], in[2]}, Mask(sequence, lengths), caller);
    return Listed(options_.batch_first ? result.output.Transpose(0, 1) : result.output, result.state.hidden,
                  result.state.cell);
  }));
}

}  // namespace hlod::nn
