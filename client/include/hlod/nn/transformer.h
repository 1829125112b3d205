// Transformer layers over [batch, length, size]: torch.nn's with batch_first.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "hlod/nn/containers.h"
#include "hlod/nn/layers.h"

namespace hlod::nn {

struct TransformerOptions {
  int64_t feedforward = 2048;  // The width between the two linear layers.
  double dropout = 0.1;
  std::function<Tensor(const Tensor&)> activation = {};  // Relu when absent.
  double eps = 1e-5;                                     // The eps of the normalisations.
  bool norm_first = false;  // True to normalise before each part instead of after it.
};

class TransformerEncoderLayer : public Module {
 public:
  TransformerEncoderLayer(Module& parent, PartName name, int64_t size, int64_t heads,
                          TransformerOptions options = {});
  Tensor operator()(const Tensor& x, const AttentionOptions& attention = {},
                    Caller caller = Caller::Here()) const;

  MultiheadAttention self_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;

 private:
  TransformerOptions options_;
};

class TransformerDecoderLayer : public Module {
 public:
  TransformerDecoderLayer(Module& parent, PartName name, int64_t size, int64_t heads,
                          TransformerOptions options = {});
  // `memory` is the encoder's result.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& self = {},
                    const AttentionOptions& cross = {}, Caller caller = Caller::Here()) const;

  MultiheadAttention self_attn, multihead_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;

 private:
  TransformerOptions options_;
};

// `count` layers one after another, named layers.0, layers.1 and so on, with an optional normalisation after
// the last.
class TransformerEncoder : public Module {
 public:
  TransformerEncoder(Module& parent, PartName name, int64_t count, int64_t size, int64_t heads,
                     const TransformerOptions& options = {}, bool final_norm = false);
  Tensor operator()(const Tensor& x, const AttentionOptions& attention = {},
                    Caller caller = Caller::Here()) const;
  ModuleList<TransformerEncoderLayer> layers;

 private:
  std::unique_ptr<LayerNorm> norm_;
};
class TransformerDecoder : public Module {
 public:
  TransformerDecoder(Module& parent, PartName name, int64_t count, int64_t size, int64_t heads,
                     const TransformerOptions& options = {}, bool final_norm = false);
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& self = {},
                    const AttentionOptions& cross = {}, Caller caller = Caller::Here()) const;
  ModuleList<TransformerDecoderLayer> layers;

 private:
  std::unique_ptr<LayerNorm> norm_;
};

// The attention options of the parts of a Transformer.
struct TransformerMasks {
  AttentionOptions source = {}, target = {}, memory = {};
};

// An encoder and a decoder, each with a normalisation at its end. Matrices begin with Xavier's uniform
// numbers. torch.nn.Transformer.
//   nn::Transformer model{*this, "model", 512, 8};
//   const Tensor y = model(source, target, {.target = {.is_causal = true}});
class Transformer : public Module {
 public:
  Transformer(Module& parent, PartName name, int64_t size = 512, int64_t heads = 8,
              int64_t encoder_layers = 6, int64_t decoder_layers = 6, const TransformerOptions& options = {});
  // source is [batch, source length, size], target [batch, target length, size] as the result.
  Tensor operator()(const Tensor& source, const Tensor& target, const TransformerMasks& masks = {},
                    Caller caller = Caller::Here()) const;

  TransformerEncoder encoder;
  TransformerDecoder decoder;
};

}  // namespace hlod::nn
