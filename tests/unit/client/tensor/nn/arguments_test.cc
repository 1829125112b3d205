// Arguments that PyTorch 1.13's layers refuse when they are made or called: ours are refused when they are
// made, with the line that makes the layer. Those that PyTorch takes at the edge of a limit are taken.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class NnArguments : public TensorTest {};

struct Refused {
  std::function<void(nn::Module&)> make;
  const char* text;
  int line;
};
#define REFUSED(layer, text)                         \
  Refused {                                          \
    [](nn::Module& m) { nn::layer; }, text, __LINE__ \
  }

std::vector<Refused> LayersWithWeights() {
  return {
      REFUSED(Linear(m, "a", -1, 2), "in is -1, and must be at least 0"),
      REFUSED(Linear(m, "a", 2, -1), "out is -1"),
      REFUSED(Bilinear(m, "a", 0, 2, 3), "in1 is 0, and must be positive"),
      REFUSED(Bilinear(m, "a", 2, -1, 3), "in2 is -1"),
      REFUSED(Embedding(m, "a", -1, 3), "count is -1"),
      REFUSED(Embedding(m, "a", 3, -1), "size is -1"),
      REFUSED(Embedding(m, "a", 3, 2, 3), "padding is 3, which is not one of 3 rows"),
      REFUSED(Embedding(m, "a", 3, 2, -4), "padding is -4"),
      REFUSED(EmbeddingBag(m, "a", -1, 3), "count is -1"),
      REFUSED(LayerNorm(m, "a", {}), "shape has no dimensions"),
      REFUSED(LayerNorm(m, "a", {3, -1}), "shape is -1"),
      REFUSED(RmsNorm(m, "a", {-1}), "shape is -1"),
      REFUSED(BatchNorm(m, "a", -1), "channels is -1"),
      REFUSED(InstanceNorm(m, "a", -1), "channels is -1"),
      REFUSED(GroupNorm(m, "a", 0, 4), "groups is 0, and must be positive"),
      REFUSED(GroupNorm(m, "a", -2, 4), "groups is -2"),
      REFUSED(GroupNorm(m, "a", 3, 4), "the channels (4) do not divide into 3 groups"),
      REFUSED(GroupNorm(m, "a", 2, -4), "channels is -4"),
      REFUSED(Conv(m, "a", 2, 2, {3, 0}), "kernel is 0, and must be positive"),
      REFUSED(Conv(m, "a", 2, 2, {3, 3, 3, 3}), "the kernel has 4 dimensions"),
      REFUSED(Conv(m, "a", 2, 2, {3}, {.stride = 0}), "stride is 0"),
      REFUSED(Conv(m, "a", 2, 2, {3}, {.padding = -1}), "padding is -1"),
      REFUSED(Conv(m, "a", 2, 2, {3}, {.dilation = 0}), "dilation is 0"),
      REFUSED(Conv(m, "a", 2, 2, {3}, {.groups = 0}), "groups (0) must divide"),
      REFUSED(Conv(m, "a", 4, 2, {3}, {.groups = 3}), "groups (3) must divide"),
      REFUSED(Conv(m, "a", -2, 2, {3}), "channels in (-2)"),
      REFUSED(Conv(m, "a", 2, 2, {3, 3}, {.stride = {1, 1, 1}}), "stride has 3 values for the 2 dimensions"),
      REFUSED(Conv(m, "a", 2, 2, {3, 3}, {.stride = {1, 2}, .padding = "same"}), "takes a stride of 1"),
      REFUSED(Conv(m, "a", 2, 2, {3}, {.padding = "full"}), "padding is \"full\""),
      REFUSED(ConvTranspose(m, "a", 2, 2, {3}, {.output_padding = 1}), "output_padding is 1"),
      REFUSED(ConvTranspose(m, "a", 2, 2, {3}, {.stride = 2, .output_padding = 2}), "output_padding is 2"),
      REFUSED(ConvTranspose(m, "a", 2, 2, {3}, {.stride = 2, .output_padding = -1}), "output_padding is -1"),
      REFUSED(ConvTranspose(m, "a", 2, 2, {3}, {.padding = -1}), "padding is -1"),
  };
}

std::vector<Refused> LayersOfImages() {
  return {
      REFUSED(Dropout(m, "a", 1.5), "p is 1.5, and must be at least 0 and at most 1"),
      REFUSED(Dropout(m, "a", NAN), "p is nan"),
      REFUSED(Dropout1d(m, "a", 2), "p is 2"),
      REFUSED(Dropout2d(m, "a", -.5), "p is -0.5"),
      REFUSED(AlphaDropout(m, "a", 2), "p is 2"),
      REFUSED(FeatureAlphaDropout(m, "a", -1), "p is -1"),
      REFUSED(MultiheadAttention(m, "a", 4, 3), "the size (4) is not a multiple of the 3 heads"),
      REFUSED(MultiheadAttention(m, "a", 4, 0), "heads is 0"),
      REFUSED(MultiheadAttention(m, "a", 0, 1), "size is 0"),
      REFUSED(MultiheadAttention(m, "a", 4, 2, true, 2), "dropout_p is 2"),
      REFUSED(MaxPool2d(m, "a", 0), "kernel is 0"),
      REFUSED(MaxPool2d(m, "a", 2, {.stride = 0}), "stride is 0"),
      REFUSED(MaxPool2d(m, "a", 2, {.padding = 2}), "padding is 2, and must be at most half of the kernel"),
      REFUSED(MaxPool2d(m, "a", 2, {.padding = -1}), "padding is -1"),
      REFUSED(MaxPool2d(m, "a", 2, {.dilation = 0}), "dilation is 0"),
      REFUSED(MaxPool2d(m, "a", {2, 2, 2}), "kernel has 3 values for 2 dimensions"),
      REFUSED(MaxPool2d(m, "a", Sizes(Dims())), "kernel has 0 values for 2 dimensions"),
      REFUSED(MaxPool1d(m, "a", 2, {.padding = 2}), "padding is 2"),
      REFUSED(AvgPool1d(m, "a", 2, {.stride = 0}), "stride is 0"),
      REFUSED(AvgPool2d(m, "a", 2, {.divisor = 0}), "divisor is 0"),
      REFUSED(AvgPool3d(m, "a", -1), "kernel is -1"),
      REFUSED(AdaptiveAvgPool2d(m, "a", -2), "output is -2"),
      REFUSED(AdaptiveMaxPool1d(m, "a", {1, 1}), "output has 2 values for 1 dimension"),
      REFUSED(PixelShuffle(m, "a", 0), "factor is 0"),
      REFUSED(PixelUnshuffle(m, "a", -2), "factor is -2"),
      REFUSED(ChannelShuffle(m, "a", 0), "groups is 0"),
      REFUSED(Upsample(m, "a", {}), "either a size or a scale_factor must be given"),
      REFUSED(Upsample(m, "a", {.size = 2, .scale_factor = {2}}), "either a size or a scale_factor"),
      REFUSED(Upsample(m, "a", {.size = 0}), "size is 0"),
      REFUSED(Upsample(m, "a", {.scale_factor = {-1}}), "a scale_factor is not positive"),
  };
}

std::vector<Refused> OtherLayers() {
  return {
      REFUSED(Celu(m, "a", 0), "alpha is 0"),
      REFUSED(Hardtanh(m, "a", 1, 1), "min (1) is not below max (1)"),
      REFUSED(Softshrink(m, "a", -1), "lambda is -1"),
      REFUSED(Rrelu(m, "a", .5, .1), "lower (0.5) is above upper (0.1)"),
      REFUSED(Prelu(m, "a", 0), "count is 0"),
      REFUSED(Flatten(m, "a", 3, 1), "start (3) comes after end (1)"),
      REFUSED(Rnn(m, "a", 2, 3, {.layers = 0}), "layers is 0"),
      REFUSED(Rnn(m, "a", -1, 3), "input is -1"),
      REFUSED(Gru(m, "a", 2, 0), "hidden is 0"),
      REFUSED(Lstm(m, "a", 2, 3, {.dropout = 1.5}), "dropout is 1.5"),
      REFUSED(LstmCell(m, "a", -1, 2), "input is -1"),
      REFUSED(GruCell(m, "a", 2, -1), "hidden is -1"),
      REFUSED(CrossEntropyLoss(m, "a", {}, -100, 1.5), "label_smoothing is 1.5"),
      REFUSED(SmoothL1Loss(m, "a", -1), "the number is -1, and must be at least 0"),
      REFUSED(HuberLoss(m, "a", 0), "the number is 0, and must be positive"),
      REFUSED(TransformerEncoderLayer(m, "a", 4, 3), "is not a multiple of the 3 heads"),
      REFUSED(TransformerDecoderLayer(m, "a", 4, 2, {.feedforward = -1}), "feedforward is -1"),
      REFUSED(TransformerEncoderLayer(m, "a", 4, 2, {.dropout = 2}), "dropout is 2"),
      REFUSED(TransformerEncoder(m, "a", -1, 4, 2), "count is -1"),
      REFUSED(Transformer(m, "a", 4, 3), "the size (4) is not divided by the number of heads (3)"),
      REFUSED(ZeroPad2d(m, "a", {1, 2, 3}), "padding has 3 numbers"),
      REFUSED(AdaptiveLogSoftmaxWithLoss(m, "a", 4, 8, {9}), "the cutoffs [9]"),
      REFUSED(AdaptiveLogSoftmaxWithLoss(m, "a", 4, 8, {2}, 0), "div_value (0)"),
      REFUSED(Relu(m, ""), "the name () of a part is empty"),
      REFUSED(Relu(m, "a.b"), "the name (a.b) of a part has a dot"),
  };
}

TEST_F(NnArguments, BeyondALimitAreRefusedAtTheLineThatMakesTheLayer) {
  for (const auto& rows : {LayersWithWeights(), LayersOfImages(), OtherLayers()}) {
    for (const Refused& row : rows) {
      nn::Module model;
      EXPECT_EQ(KindOf(Thrown([&] { row.make(model); })), ErrorKind::kArgument);
      EXPECT_THAT(last_what_, HasSubstr(row.text));
      EXPECT_THAT(last_what_, HasSubstr("arguments_test.cc:" + std::to_string(row.line) + ")"));
      EXPECT_TRUE(model.Children().empty()) << row.line;
    }
  }
}

TEST_F(NnArguments, AtALimitAreTaken) {
  nn::Module m;
  nn::Linear none_in(m, "none_in", 0, 2), none_out(m, "none_out", 2, 0);
  nn::Embedding rows(m, "rows", 3, 2, -3), no_rows(m, "no_rows", 0, 3);
  nn::LayerNorm norm(m, "norm", {0});
  nn::GroupNorm groups(m, "groups", 2, 0);
  nn::Dropout all(m, "all", 1), no(m, "no", 0);
  nn::AvgPool2d pool(m, "pool", 2, {.padding = 1});
  nn::AdaptiveAvgPool2d empty(m, "empty", 0), same(m, "same", -1);
  nn::Celu celu(m, "celu", -1);
  nn::Softplus softplus(m, "softplus", -1);
  nn::SmoothL1Loss loss(m, "loss", 0);
  nn::LstmCell cell(m, "cell", 0, 2);
  nn::ReflectionPad2d pad(m, "pad", -1);
  nn::Conv same_size(m, "same_size", 2, 2, {3}, {.padding = "same", .dilation = 2});
  nn::ConvTranspose odd(m, "odd", 2, 2, {3}, {.output_padding = 1, .dilation = 2});
  EXPECT_THAT(none_in(Zeros({3, 0})).dims(), ElementsAre(3, 2));
  EXPECT_THAT(empty(Zeros({1, 4, 4})).dims(), ElementsAre(1, 0, 0));
  EXPECT_THAT(rows(FromValues<int64_t>({0, 1})).dims(), ElementsAre(2, 2));
}

struct Inner : nn::Module {
  nn::Dropout dropout{*this, "dropout", 3};
};

TEST_F(NnArguments, AMemberNamesItsOwnLineAndPath) {
  Throws([] { Inner model; });
  EXPECT_THAT(last_what_, HasSubstr("arguments_test.cc:"));
  EXPECT_THAT(last_what_, HasSubstr("dropout"));
  // A dictionary's part is made at the line that adds it.
  nn::Module model;
  nn::ModuleDict<nn::Dropout> parts(model, "parts");
  const int line = __LINE__ + 1;
  Throws([&] { parts.Add("first", 2); });
  EXPECT_THAT(last_what_, HasSubstr("arguments_test.cc:" + std::to_string(line)));
  EXPECT_THAT(last_what_, HasSubstr("parts.first"));
}

}  // namespace
}  // namespace hlod
