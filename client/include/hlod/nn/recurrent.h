// Recurrent layers: Elman's network, LSTM, GRU, and one step of each. Weights are uniform within
// 1 / sqrt(hidden).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hlod/nn/module.h"
#include "hlod/nn/packed_sequence.h"

namespace hlod::nn {

// The state of a network: [layers * directions, n, hidden], of a cell [n, hidden]. `cell` is an LSTM's only.
struct RecurrentState {
  Tensor hidden, cell = {};
};

enum class RecurrentKind { kTanh, kRelu, kLstm, kGru };

// One step: weight_ih [gates * hidden, input], weight_hh [gates * hidden, hidden], bias_ih, bias_hh.
class RecurrentCell : public Module {
 public:
  RecurrentCell(Module& parent, std::string name, RecurrentKind kind, int64_t input, int64_t hidden,
                bool with_bias = true);
  // x [n, input] or [input]. A state without tensors is zeros.
  RecurrentState Step(const Tensor& x, const RecurrentState& state = {}) const;
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 private:
  RecurrentKind kind_;
};
struct RnnCell : RecurrentCell {
  RnnCell(Module& parent, std::string name, int64_t input, int64_t hidden, bool with_bias = true,
          RecurrentKind kind = RecurrentKind::kTanh)
      : RecurrentCell(parent, std::move(name), kind, input, hidden, with_bias) {}
  Tensor operator()(const Tensor& x, const Tensor& hidden = {}, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, hidden}, [&](Tensors in) { return Step(in[0], {in[1]}).hidden; });
  }
};
struct LstmCell : RecurrentCell {
  LstmCell(Module& parent, std::string name, int64_t input, int64_t hidden, bool with_bias = true)
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
  GruCell(Module& parent, std::string name, int64_t input, int64_t hidden, bool with_bias = true)
      : RecurrentCell(parent, std::move(name), RecurrentKind::kGru, input, hidden, with_bias) {}
  Tensor operator()(const Tensor& x, const Tensor& hidden = {}, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, hidden}, [&](Tensors in) { return Step(in[0], {in[1]}).hidden; });
  }
};

struct RecurrentOptions {
  int64_t layers = 1;
  bool with_bias = true;
  bool batch_first = false;    // [n, length, size] instead of [length, n, size].
  double dropout = 0;          // Between layers, while training.
  bool bidirectional = false;  // Both directions, side by side in the last dimension.
};
struct RecurrentResult {
  Tensor output;         // The last layer's output at each step.
  RecurrentState state;  // The state of every layer and direction at the last step.
};

struct PackedRecurrentResult {
  utils::rnn::PackedSequence output;
  RecurrentState state;  // The state of each sequence at its own last step, in the order before packing.
};

// Layers over a sequence, each direction of each a Scan: the program does not grow with the length. Weights
// are named as PyTorch names them: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, and the same with
// _reverse.
class Recurrent : public Module {
 public:
  Recurrent(Module& parent, std::string name, RecurrentKind kind, int64_t input, int64_t hidden,
            RecurrentOptions options = {});
  // x [length, n, input], or [length, input].
  RecurrentResult operator()(const Tensor& x, const RecurrentState& state = {},
                             Caller caller = Caller::Here()) const;
  // Each sequence over its own steps; states are in the order before packing.
  PackedRecurrentResult operator()(const utils::rnn::PackedSequence& x, const RecurrentState& state = {},
                                   Caller caller = Caller::Here()) const;
  // The same for x with a batch, padded behind: what packing, the call and padding give together, at x's own
  // length. `lengths` [n] are whole numbers where x is; they may change without compiling anything again.
  // Outputs behind a sequence's end are zero. Throws for lengths of another shape or type; a length beyond x
  // is as x's.
  RecurrentResult WithLengths(const Tensor& x, const Tensor& lengths, const RecurrentState& state = {},
                              Caller caller = Caller::Here()) const;

  struct Weights {
    Tensor weight_ih, weight_hh, bias_ih, bias_hh;
  };
  std::vector<Weights> weights;  // By layer, then direction.
  double dropout;                // Between layers, while training; may change as Dropout::p does.

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
  Rnn(Module& parent, std::string name, int64_t input, int64_t hidden, RecurrentOptions options = {},
      RecurrentKind kind = RecurrentKind::kTanh)
      : Recurrent(parent, std::move(name), kind, input, hidden, options) {}
};
struct Lstm : Recurrent {
  Lstm(Module& parent, std::string name, int64_t input, int64_t hidden, RecurrentOptions options = {})
      : Recurrent(parent, std::move(name), RecurrentKind::kLstm, input, hidden, options) {}
};
struct Gru : Recurrent {
  Gru(Module& parent, std::string name, int64_t input, int64_t hidden, RecurrentOptions options = {})
      : Recurrent(parent, std::move(name), RecurrentKind::kGru, input, hidden, options) {}
};

}  // namespace hlod::nn
