// Transformer layers.
#include "hlod/nn/transformer.h"

#include "absl/strings/str_cat.h"
#include "client/tensor/value/throw.h"
#include "hlod/nn/init.h"
#include "hlod/ops/elementwise.h"

namespace hlod::nn {
namespace {

// Returns x plus `part` of x, normalised after the sum or before `part`.
template <typename Part>
Tensor Residual(const Tensor& x, const LayerNorm& norm, bool norm_first, Part part) {
  return norm_first ? x + part(norm(x)) : norm(x + part(x));
}

template <typename Layer>
void AddLayers(ModuleList<Layer>& list, int64_t count, int64_t size, int64_t heads,
               const TransformerOptions& options, const Caller& made_at) {
  const CallerScope scope(made_at);
  for (int64_t i = 0; i < count; ++i) list.Append(size, heads, options);
}

LayerArgument WithinLimits(const TransformerOptions& options) {
  const LayerArgument feedforward("feedforward", options.feedforward, Limit::kNotNegative);
  if (!feedforward.fault().empty()) return feedforward;
  return {"dropout", options.dropout, Limit::kUpToOne};
}

LayerArgument DividedByHeads(int64_t size, int64_t heads) {
  return {size > 0 && heads > 0 && size % heads == 0,
          absl::StrCat("the size (", size, ") is not divided by the number of heads (", heads, ")")};
}

Tensor Activated(const TransformerOptions& options, const Tensor& x) {
  return options.activation ? options.activation(x) : hlod::Relu(x);
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(Module& parent, PartName name, int64_t size, int64_t heads,
                                                 TransformerOptions options)
    : Module(parent, std::move(name), "transformer", {WithinLimits(options)}),
      self_attn(*this, Part("self_attn"), size, heads, true, options.dropout),
      linear1(*this, Part("linear1"), size, options.feedforward),
      dropout(*this, Part("dropout"), options.dropout),
      linear2(*this, Part("linear2"), options.feedforward, size),
      norm1(*this, Part("norm1"), {size}, options.eps),
      norm2(*this, Part("norm2"), {size}, options.eps),
      dropout1(*this, Part("dropout1"), options.dropout),
      dropout2(*this, Part("dropout2"), options.dropout),
      options_(std::move(options)) {}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttentionOptions& attention,
                                           Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) {
    const bool first = options_.norm_first;
    const Tensor attended = Residual(
        in[0], norm1, first, [&](const Tensor& y) { return dropout1(self_attn(y, y, y, attention)); });
    return Residual(attended, norm2, first, [&](const Tensor& y) {
      return dropout2(linear2(dropout(Activated(options_, linear1(y)))));
    });
  });
}

TransformerDecoderLayer::TransformerDecoderLayer(Module& parent, PartName name, int64_t size, int64_t heads,
                                                 TransformerOptions options)
    : Module(parent, std::move(name), "transformer", {WithinLimits(options)}),
      self_attn(*this, Part("self_attn"), size, heads, true, options.dropout),
      multihead_attn(*this, Part("multihead_attn"), size, heads, true, options.dropout),
      linear1(*this, Part("linear1"), size, options.feedforward),
      dropout(*this, Part("dropout"), options.dropout),
      linear2(*this, Part("linear2"), options.feedforward, size),
      norm1(*this, Part("norm1"), {size}, options.eps),
      norm2(*this, Part("norm2"), {size}, options.eps),
      norm3(*this, Part("norm3"), {size}, options.eps),
      dropout1(*this, Part("dropout1"), options.dropout),
      dropout2(*this, Part("dropout2"), options.dropout),
      dropout3(*this, Part("dropout3"), options.dropout),
      options_(std::move(options)) {}

Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory,
                                           const AttentionOptions& self, const AttentionOptions& cross,
                                           Caller caller) const {
  return Forward(caller, {x, memory}, [&](Tensors in) {
    const bool first = options_.norm_first;
    Tensor y =
        Residual(in[0], norm1, first, [&](const Tensor& z) { return dropout1(self_attn(z, z, z, self)); });
    y = Residual(y, norm2, first,
                 [&](const Tensor& z) { return dropout2(multihead_attn(z, in[1], in[1], cross)); });
    return Residual(y, norm3, first, [&](const Tensor& z) {
      return dropout3(linear2(dropout(Activated(options_, linear1(z)))));
    });
  });
}

TransformerEncoder::TransformerEncoder(Module& parent, PartName name, int64_t count, int64_t size,
                                       int64_t heads, const TransformerOptions& options, bool final_norm)
    : Module(parent, std::move(name), "transformer",
             {{"count", count, Limit::kNotNegative}, WithinLimits(options), DividedByHeads(size, heads)}),
      layers(*this, Part("layers")) {
  AddLayers(layers, count, size, heads, options, made_at());
  if (final_norm) norm_ = std::make_unique<LayerNorm>(*this, Part("norm"), Dims{size}, options.eps);
}
Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionOptions& attention,
                                      Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) {
    Tensor y = in[0];
    for (const TransformerEncoderLayer& layer : layers) y = layer(y, attention);
    return norm_ == nullptr ? y : (*norm_)(y);
  });
}

TransformerDecoder::TransformerDecoder(Module& parent, PartName name, int64_t count, int64_t size,
                                       int64_t heads, const TransformerOptions& options, bool final_norm)
    : Module(parent, std::move(name), "transformer",
             {{"count", count, Limit::kNotNegative}, WithinLimits(options), DividedByHeads(size, heads)}),
      layers(*this, Part("layers")) {
  AddLayers(layers, count, size, heads, options, made_at());
  if (final_norm) norm_ = std::make_unique<LayerNorm>(*this, Part("norm"), Dims{size}, options.eps);
}
Tensor TransformerDecoder::operator()(const Tensor& x, const Tensor& memory, const AttentionOptions& self,
                                      const AttentionOptions& cross, Caller caller) const {
  return Forward(caller, {x, memory}, [&](Tensors in) {
    Tensor y = in[0];
    for (const TransformerDecoderLayer& layer : layers) y = layer(y, in[1], self, cross);
    return norm_ == nullptr ? y : (*norm_)(y);
  });
}

Transformer::Transformer(Module& parent, PartName name, int64_t size, int64_t heads, int64_t encoder_layers,
                         int64_t decoder_layers, const TransformerOptions& options)
    : Module(parent, std::move(name)),
      encoder(*this, Part("encoder"), encoder_layers, size, heads, options, true),
      decoder(*this, Part("decoder"), decoder_layers, size, heads, options, true) {
  for (Tensor& parameter : Parameters()) {
    if (parameter.rank() > 1) init::XavierUniform_(parameter);
  }
}
Tensor Transformer::operator()(const Tensor& source, const Tensor& target, const TransformerMasks& masks,
                               Caller caller) const {
  return Forward(caller, {source, target}, [&](Tensors in) {
    return decoder(in[1], encoder(in[0], masks.source), masks.target, masks.memory);
  });
}

}  // namespace hlod::nn
