// Recurrent and transformer layers with PyTorch's weights return PyTorch's outputs and states.
#include <algorithm>
#include <cmath>

#include "tests/unit/client/tensor/nn/case.h"

namespace hlod {
namespace {

class NnSequence : public NnCase {};

TEST_F(NnSequence, CellsAgreeWithPyTorch) {
  Root root;
  nn::RnnCell rnn(root, "rnn", 3, 4);
  Check("rnn_cell", rnn, kF32, [&](auto& x) { return rnn(x[0], x[1]); });
  nn::LstmCell lstm(root, "lstm", 3, 4);
  Check("lstm_cell", lstm, kF32, [&](auto& x) {
    const nn::RecurrentState state = lstm(x[0], {x[1], x[2]});
    return std::vector<Tensor>{state.hidden, state.cell};
  });
  nn::GruCell gru(root, "gru", 3, 4);
  Check("gru_cell", gru, kF32, [&](auto& x) { return gru(x[0], x[1]); });
}

TEST_F(NnSequence, RecurrentLayersAgreeWithPyTorch) {
  Root root;
  nn::Rnn rnn(root, "rnn", 3, 4, {.layers = 2}, nn::RecurrentKind::kRelu);
  Check("rnn", rnn, kF32, [&](auto& x) {
    const nn::RecurrentResult result = rnn(x[0], {x[1]});
    return std::vector<Tensor>{result.output, result.state.hidden};
  });
  nn::Lstm lstm(root, "lstm", 3, 4, {.layers = 2, .batch_first = true, .bidirectional = true});
  Check("lstm", lstm, kF32, [&](auto& x) {
    const nn::RecurrentResult result = lstm(x[0]);
    return std::vector<Tensor>{result.output, result.state.hidden, result.state.cell};
  });
  nn::Gru gru(root, "gru", 3, 4, {.with_bias = false, .bidirectional = true});
  Check("gru", gru, kF32, [&](auto& x) {
    const nn::RecurrentResult result = gru(x[0], {x[1]});
    return std::vector<Tensor>{result.output, result.state.hidden};
  });
}

TEST_F(NnSequence, ARecurrentLayersProgramDoesNotGrowWithItsLength) {
  Root root;
  nn::Lstm lstm(root, "lstm", 3, 4, {.layers = 2, .bidirectional = true});
  lstm.To(device());
  const auto lines = [&](int64_t length) {
    const Tensor x = Placeholder({length, 2, 3}, kF32, device());
    const std::string text = Dump(lstm(x).output, DumpFormat::kHlo);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(7), lines(70));
}

TEST_F(NnSequence, RecurrentWeightsStartWithinPyTorchsBounds) {
  Root root;
  const nn::Gru gru(root, "gru", 5, 16);
  for (const Tensor& tensor : gru.Parameters()) {
    for (const float value : tensor.ToVector<float>()) EXPECT_LE(std::abs(value), 1 / 4.0f);
  }
}

TEST_F(NnSequence, TransformersAgreeWithPyTorch) {
  Root root;
  nn::TransformerEncoderLayer layer(root, "layer", 8, 2, {.feedforward = 6});
  Check("encoder_layer", layer, kF32, [&](auto& x) { return layer(x[0]); });
  const auto gelu = [](const Tensor& x) { return Gelu(x); };
  nn::TransformerEncoder encoder(root, "encoder", 2, 8, 2,
                                 {.feedforward = 6, .activation = gelu, .norm_first = true}, true);
  Check("encoder", encoder, kF32, [&](auto& x) { return encoder(x[0]); });
  nn::TransformerDecoder decoder(root, "decoder", 2, 8, 2, {.feedforward = 6});
  Check("decoder", decoder, kF32, [&](auto& x) { return decoder(x[0], x[1]); });
}

TEST_F(NnSequence, ATransformerRefusesSettingsOutsideTheirLimits) {
  Root root;
  const auto refused = [&](int64_t count, int64_t heads, const nn::TransformerOptions& options) {
    EXPECT_FALSE(Thrown([&] { nn::TransformerEncoder(root, "encoder", count, 8, heads, options); }).ok());
    return last_what_;
  };
  EXPECT_THAT(refused(-1, 2, {}), HasSubstr("count is -1, and must be at least 0"));
  EXPECT_THAT(refused(1, 3, {}), HasSubstr("the size (8) is not divided by the number of heads (3)"));
  EXPECT_THAT(refused(1, 2, {.feedforward = -1}), HasSubstr("feedforward is -1, and must be at least 0"));
  EXPECT_THAT(refused(1, 2, {.dropout = 1.5}),
              HasSubstr("dropout is 1.5, and must be at least 0 and at most 1"));
}

TEST_F(NnSequence, AttentionDropsWeightsWhileTraining) {
  Root root;
  nn::MultiheadAttention attention(root, "attention", 4, 1, true, 1);
  const Tensor x = Ones({1, 3, 4});
  // All attention weights are dropped, so the output is the projection's bias, which is initialised to zero.
  EXPECT_THAT(attention(x, x, x).ToVector<float>(), ::testing::Each(0));
  attention.Eval();
  EXPECT_THAT(attention(x, x, x).ToVector<float>(), ::testing::Not(::testing::Each(0)));
}

}  // namespace
}  // namespace hlod
