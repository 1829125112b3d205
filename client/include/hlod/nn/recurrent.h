// Recurrent layers: Elman's network, LSTM and GRU, and single steps (cells) of each. Weights are uniform
// within 1 / sqrt(hidden).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hlod/nn/module.h"
#include "hlod/nn/packed_sequence.h"

namespace hlod::nn {

// The state of a network, [layers * directions, n, hidden], or of a cell, [n, hidden]. `cell` is defined for
// an LSTM only.
struct RecurrentState {
  Tensor hidden, cell = {};
};

enum class RecurrentKind { kTanh, kRelu, kLstm, kGru };

// One step: weight_ih [gates * hidden, input], weight_hh [gates * hidden, hidden], bias_ih, bias_hh.
class RecurrentCell : public Module {
 public:
  RecurrentCell(Module& parent, PartName name, RecurrentKind kind, int64_t input, int64_t hidden,
                bool with_bias = true);
  // Computes one step of x, [n, input] or [input]. An undefined state counts as zeros.
  RecurrentState Step(const Tensor& x, const RecurrentState& state = {}) const;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 private:
  RecurrentKind kind_;
};
struct RnnCell : RecurrentCell {
  RnnCell(Module& parent, PartName name, int64_t input, int64_t hidden, bool with_bias = true,
          RecurrentKind kind = RecurrentKind::kTanh)
      : RecurrentCell(parent, std::move(name), kind, input, hidden, with_bias) {}
  Tensor operator()(const Tensor& x, const Tensor& hidden = {}, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, hidden}, [&](Tensors in) { return Step(in[0], {in[1]}).hidden; });
  }
};
struct LstmCell : RecurrentCell {
  LstmCell(Module& parent, PartName name, int64_t input, int64_t hidden, bool with_bias = true)
      : RecurrentCell(parent, std::move(name), RecurrentKind::kLstm, input, hidden, with_bias) {}
  RecurrentState operator()(const Tensor& x, const RecurrentState& state = {},
                            Caller caller = Caller::Here()) const {
    const std::vector<Tensor> out = ForwardAll(caller, {x, state.hidden, state.cell}, [&](Tensors in) {
      const RecurrentState next = Step(in[0], {in[1], in[2]});
      return std::vector<Tensor>{next.hidden, next.cell};
    });
    return {out[0], out[1]};
  }
};
struct GruCell : RecurrentCell {
  GruCell(Module& parent, PartName name, int64_t input, int64_t hidden, bool with_bias = true)
      : RecurrentCell(parent, std::move(name), RecurrentKind::kGru, input, hidden, with_bias) {}
  Tensor operator()(const Tensor& x, const Tensor& hidden = {}, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, hidden}, [&](Tensors in) { return Step(in[0], {in[1]}).hidden; });
  }
};

struct RecurrentOptions {
  int64_t layers = 1;
  bool with_bias = true;
  bool batch_first = false;    // [n, length, size] instead of [length, n, size].
  double dropout = 0;          // The dropout between layers, while training.
  // True for two directions, whose outputs are side by side in the last dimension.
  bool bidirectional = false;
};
struct RecurrentResult {
  Tensor output;         // The last layer's output at each step.
  RecurrentState state;  // The state of every layer and direction at the last step.
};

struct PackedRecurrentResult {
  utils::rnn::PackedSequence output;
  // The state of each sequence at its own last step, in the order that the sequences had before packing.
  RecurrentState state;
};

// Layers over a sequence; each direction of each layer is a Scan, so the program does not grow with the
// length. Weights have PyTorch's names: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, and the same with
// _reverse.
class Recurrent : public Module {
 public:
  Recurrent(Module& parent, PartName name, RecurrentKind kind, int64_t input, int64_t hidden,
            RecurrentOptions options = {});
  // x [length, n, input], or [length, input].
  RecurrentResult operator()(const Tensor& x, const RecurrentState& state = {},
                             Caller caller = Caller::Here()) const;
  // Runs each sequence over its own steps. States are in the order that the sequences had before packing.
  PackedRecurrentResult operator()(const utils::rnn::PackedSequence& x, const RecurrentState& state = {},
                                   Caller caller = Caller::Here()) const;
  // Runs a padded batch x and returns what packing, the call and padding would return, at x's length.
  // `lengths` [n] are integers on x's device; they may change without a new compilation. Outputs after a
  // sequence's end are zero. Throws for lengths of another shape or type. A length above x's counts as x's.
  RecurrentResult WithLengths(const Tensor& x, const Tensor& lengths, const RecurrentState& state = {},
                              Caller caller = Caller::Here()) const;

  struct Weights {
    Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  };
  std::vector<Weights> weights;  // By layer, then direction.
  double dropout;                // The dropout between layers while training; may change as Dropout::p may.

 private:
  // Runs [length, n, input] and returns outputs [length, n, ...] and states [layers * directions, n, hidden].
  // Where `mask` [length, n, 1] is defined and false, the state stays and outputs are zero.
  RecurrentResult Unroll(Tensor sequence, const RecurrentState& state, const Tensor& mask,
                         const Caller& caller) const;
  RecurrentKind kind_;
  int64_t hidden_;
  RecurrentOptions options_;
};
struct Rnn : Recurrent {
  Rnn(Module& parent, PartName name, int64_t input, int64_t hidden, RecurrentOptions options = {},
      RecurrentKind kind = RecurrentKind::kTanh)
      : Recurrent(parent, std::move(name), kind, input, hidden, options) {}
};
struct Lstm : Recurrent {
  Lstm(Module& parent, PartName name, int64_t input, int64_t hidden, RecurrentOptions options = {})
      : Recurrent(parent, std::move(name), RecurrentKind::kLstm, input, hidden, options) {}
};
struct Gru : Recurrent {
  Gru(Module& parent, PartName name, int64_t input, int64_t hidden, RecurrentOptions options = {})
      : Recurrent(parent, std::move(name), RecurrentKind::kGru, input, hidden, options) {}
};

}  // namespace hlod::nn
