// Einsum, pooling, convolution, normalisation and attention, compared with values that PyTorch 1.13 computed.
#include "tests/unit/client/tensor/fixture.h"

#include <algorithm>

namespace hlod {
namespace {

struct Row {
  const char* call;
  Tensor result;
  Dims dims;
  std::vector<double> values;
};

// Small tensors of a device, and the operations on them.
struct NetworkRows {
  explicit NetworkRows(const Device& device) : at(device) {}

  Tensor Floats(const std::vector<float>& values, Dims dims) const {
    return FromValues<float>(values, std::move(dims), at);
  }
  Tensor Range(int64_t end, const Dims& dims) const { return Arange(0, end, 1, {kF32, at}).Reshape(dims); }

  const Device at;
  const Tensor a = Range(6, {2, 3}), b = Range(12, {3, 4}) / 4, t = Range(24, {2, 3, 4}) / 8, t4 = t;
  const Tensor b4 = Range(8, {4, 2}), t2 = Range(16, {2, 2, 4}) / 8, wq = Range(8, {2, 4});
  const Tensor sq = Range(9, {3, 3}), q = (Range(12, {1, 3, 4}) - 5) / 4, w = Floats({1, 2, 3, 4}, {4});
  const Tensor im = Floats({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4}, {1, 1, 4, 5});
  const Tensor kernel = Floats({1, 2, 3, -1}, {1, 1, 2, 2}), grouped = Floats({1, 2, 3, -1, 0, 1}, {3, 1, 2});
  const Tensor mask = Floats({0, 1, 1, 1, 0, 1, 1, 1, 0}, {3, 3}).To(kPred);

  std::vector<Row> Contractions() const {
    return {
        {R"(Einsum("ij,jk->ik", {a, b}))",
         Einsum("ij,jk->ik", {a, b}),
         {2, 4},
         {5.0, 5.75, 6.5, 7.25, 14.0, 17.0, 20.0, 23.0}},
        {R"(Einsum("ij,jk", {a, b}))",
         Einsum("ij,jk", {a, b}),
         {2, 4},
         {5.0, 5.75, 6.5, 7.25, 14.0, 17.0, 20.0, 23.0}},
        {R"(Einsum("ij,jk->ki", {a, b}))",
         Einsum("ij,jk->ki", {a, b}),
         {4, 2},
         {5.0, 14.0, 5.75, 17.0, 6.5, 20.0, 7.25, 23.0}},
        {R"(Einsum("bij,jk->bik", {t4, b4}))",
         Einsum("bij,jk->bik", {t4, b4}),
         {2, 3, 2},
         {3.5, 4.25, 9.5, 12.25, 15.5, 20.25, 21.5, 28.25, 27.5, 36.25, 33.5, 44.25}},
        {R"(Einsum("...ij,jk->...ik", {t, b4}))",
         Einsum("...ij,jk->...ik", {t, b4}),
         {2, 3, 2},
         {3.5, 4.25, 9.5, 12.25, 15.5, 20.25, 21.5, 28.25, 27.5, 36.25, 33.5, 44.25}},
        {R"(Einsum("...j,...j->...", {t, w}))",
         Einsum("...j,...j->...", {t, w}),
         {2, 3},
         {2.5, 7.5, 12.5, 17.5, 22.5, 27.5}},
        {R"(Einsum("ii", {sq}))", Einsum("ii", {sq}), {}, {12.0}},
        {R"(Einsum("ii->i", {sq}))", Einsum("ii->i", {sq}), {3}, {0.0, 4.0, 8.0}},
        {R"(Einsum("ij->ji", {a}))", Einsum("ij->ji", {a}), {3, 2}, {0.0, 3.0, 1.0, 4.0, 2.0, 5.0}},
        {R"(Einsum("ij->", {a}))", Einsum("ij->", {a}), {}, {15.0}},
        {R"(Einsum("i,j->ij", {w, w}))",
         Einsum("i,j->ij", {w, w}),
         {4, 4},
         {1.0, 2.0, 3.0, 4.0, 2.0, 4.0, 6.0, 8.0, 3.0, 6.0, 9.0, 12.0, 4.0, 8.0, 12.0, 16.0}},
        {R"(Einsum("ij,jk,bik->b", {a, b, t2}))",
         Einsum("ij,jk,bik->b", {a, b, t2}),
         {2},
         {57.8125, 156.3125}},
        {R"(Einsum("bi,i,bi->b", {wq, w, wq}))", Einsum("bi,i,bi->b", {wq, w, wq}), {2}, {50.0, 370.0}},
        {R"(Einsum("i...,i...", {b, b}))", Einsum("i...,i...", {b, b}), {4}, {5.0, 6.6875, 8.75, 11.1875}},
        {R"(Einsum(" b i j , b k j -> b i k", {q, q}))",
         Einsum(" b i j , b k j -> b i k", {q, q}),
         {1, 3, 3},
         {3.375, -0.125, -3.625, -0.125, 0.375, 0.875, -3.625, 0.875, 5.375}},
        {R"(Tensordot(a, b, 1))", Tensordot(a, b, 1), {2, 4}, {5.0, 5.75, 6.5, 7.25, 14.0, 17.0, 20.0, 23.0}},
        {R"(Tensordot(t, b, {1, 2}, {0, 1}))", Tensordot(t, b, {1, 2}, {0, 1}), {2}, {15.8125, 40.5625}},
    };
  }

  std::vector<Row> PoolingAndConvolution() const {
    return {
        {R"(MaxPool2d(im, 2))", MaxPool2d(im, 2), {1, 1, 2, 2}, {9.0, 6.0, 8.0, 9.0}},
        {R"(MaxPool2d(im, {3, 2}, {.stride = 2, .padding = 1, .ceil_mode = true}))",
         MaxPool2d(im, {3, 2}, {.stride = 2, .padding = 1, .ceil_mode = true}),
         {1, 1, 3, 3},
         {9.0, 6.0, 5.0, 9.0, 9.0, 9.0, 3.0, 3.0, 8.0}},
        {R"(MaxPool2d(im, 2, {.stride = 1, .dilation = 2}))",
         MaxPool2d(im, 2, {.stride = 1, .dilation = 2}),
         {1, 1, 2, 3},
         {9.0, 8.0, 9.0, 9.0, 8.0, 6.0}},
        {R"(AvgPool2d(im, 3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false}))",
         AvgPool2d(im, 3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false}),
         {1, 1, 3, 3},
         {3.75, 3.1666667, 3.5, 4.8333335, 5.5555553, 6.0, 2.5, 4.3333335, 6.0}},
        {R"(AvgPool2d(im, 2, {.ceil_mode = true}))",
         AvgPool2d(im, 2, {.ceil_mode = true}),
         {1, 1, 2, 3},
         {3.75, 4.0, 4.0, 4.5, 6.75, 6.5}},
        {R"(Conv2d(im, kernel, {}, {.padding = "same"}))",
         Conv2d(im, kernel, {}, {.padding = "same"}),
         {1, 1, 4, 5},
         {30.0, 9.0,  19.0, 23.0, 14.0, 20.0, 29.0, 36.0, 23.0, 30.0,
          28.0, 29.0, 24.0, 45.0, 21.0, 7.0,  8.0,  19.0, 16.0, 4.0}},
        {R"(ConvTranspose2d(im, kernel, {}, {.stride = 2, .padding = 1, .output_padding = 1}))",
         ConvTranspose2d(im, kernel, {}, {.stride = 2, .padding = 1, .output_padding = 1}),
         {1, 1, 7, 9},
         {-3.0, 3.0,  -1.0, 12.0, -4.0, 3.0,  -1.0, 15.0, -5.0, 18.0, 2.0,  4.0,  6.0,  12.0, 5.0, 10.0,
          3.0,  6.0,  -9.0, 6.0,  -2.0, 18.0, -6.0, 15.0, -5.0, 9.0,  -3.0, 10.0, 8.0,  16.0, 9.0, 18.0,
          7.0,  14.0, 9.0,  18.0, -5.0, 24.0, -8.0, 27.0, -9.0, 21.0, -7.0, 27.0, -9.0, 6.0,  2.0, 4.0,
          3.0,  6.0,  8.0,  16.0, 4.0,  8.0,  -3.0, 6.0,  -2.0, 9.0,  -3.0, 24.0, -8.0, 12.0, -4.0}},
        {R"(ConvTranspose1d(q, grouped, {}, {.stride = 2, .groups = 3}))",
         ConvTranspose1d(q, grouped, {}, {.stride = 2, .groups = 3}),
         {1, 3, 8},
         {-1.25, -2.5,  -1.0, -2.0, -0.75, -1.5, -0.5, -1.0, -0.75, 0.25, 0.0, 0.0,
          0.75,  -0.25, 1.5,  -0.5, 0.0,   0.75, 0.0,  1.0,  0.0,   1.25, 0.0, 1.5}},
    };
  }

  std::vector<Row> NormsAndAttention() const {
    return {
        {R"(RmsNorm(t, {4}, w))",
         RmsNorm(t, {4}, w),
         {2, 3, 4},
         {0.0,       1.0690352, 3.2071056, 6.4142113, 0.7126959, 1.7817397, 3.2071316, 4.9888711,
          0.8363332, 1.8817496, 3.1362495, 4.5998325, 0.885856,  1.9193547, 3.1004958, 4.4292798,
          0.9124255, 1.9389042, 3.0794358, 4.3340211, 0.9289773, 1.9508524, 3.0656252, 4.2732959}},
        {R"(InstanceNorm(im))",
         InstanceNorm(im),
         {1, 1, 4, 5},
         {-0.7028831, -1.4627569, -0.3229463, -1.4627569, 0.0569905, 1.5767379, -1.0828199,
          0.4369274,  0.0569905,  -0.7028831, 0.0569905,  1.1968011, 1.5767379, 0.8168643,
          1.5767379,  -0.7028831, -1.0828199, -0.7028831, 1.1968011, -0.3229463}},
        {R"(ScaledDotProductAttention(q, q, q))",
         ScaledDotProductAttention(q, q, q),
         {1, 3, 4},
         {-1.055503, -0.8055031, -0.5555031, -0.3055031, -0.0850463, 0.1649537, 0.4149538, 0.6649537,
          0.6356997, 0.8856997, 1.1356996, 1.3856996}},
        {R"(ScaledDotProductAttention(q, q, q, {.is_causal = true}))",
         ScaledDotProductAttention(q, q, q, {.is_causal = true}),
         {1, 3, 4},
         {-1.25, -1.0, -0.75, -0.5, -0.6878235, -0.4378235, -0.1878235, 0.0621765, 0.6356997, 0.8856997,
          1.1356996, 1.3856996}},
        {R"(ScaledDotProductAttention(q, q, q, {.mask = mask}))",
         ScaledDotProductAttention(q, q, q, {.mask = mask}),
         {1, 3, 4},
         {-0.1019528, 0.1480472, 0.3980472, 0.6480471, -0.0050814, 0.2449187, 0.4949187, 0.7449186,
          -0.3453495, -0.0953495, 0.1546505, 0.4046505}},
        {R"(Dropout(w, 0.5, false))", Dropout(w, 0.5, false), {4}, {1.0, 2.0, 3.0, 4.0}},
        {R"(Dropout(w, 1))", Dropout(w, 1), {4}, {0.0, 0.0, 0.0, 0.0}},
    };
  }
};

class Network : public TensorTest {
 protected:
  static void Expect(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      EXPECT_EQ(row.result.dims(), row.dims) << row.call;
      if (row.result.dims() != row.dims) continue;
      const std::vector<double> values = row.result.To(kF64).ToVector<double>();
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_NEAR(values[i], row.values[i], 1e-5 * std::max(1.0, std::abs(row.values[i])))
            << row.call << " at " << i;
      }
    }
  }

  static void Run(const Device& at) {
    const NetworkRows rows(at);
    Expect(rows.Contractions());
    Expect(rows.PoolingAndConvolution());
    Expect(rows.NormsAndAttention());
  }
};

TEST_F(Network, MatchesPyTorchOnADevice) { Run(device()); }
TEST_F(Network, MatchesPyTorchOnTheHost) { Run(Device()); }

TEST_F(Network, AnEquationOfTwoOperandsIsOneDotWithoutATranspose) {
  const Tensor x = Placeholder({2, 3, 4}, kF32, device()), y = Placeholder({2, 4, 5}, kF32, device());
  for (const char* equation : {"bij,bjk->bik", "bij,bjk->bki"}) {
    const std::string text = Dump(Einsum(equation, {x, y}), DumpFormat::kHlo);
    EXPECT_THAT(text, HasSubstr(" dot("));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("transpose("))) << equation;
  }
}

TEST_F(Network, EquationsThatDoNotFitAreRefused) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2}), v = OnDevice({1, 2, 3}, {3});
  const std::vector<std::pair<std::function<void()>, const char*>> cases = {
      {[&] { Einsum("ij->ik", {x}); }, "index k"},
      {[&] {
         Einsum("ij,j->i", {x, v});
       },
       "index j"},
      {[&] { Einsum("ij,jk->ik", {x}); }, "2 operands"},
      {[&] { Einsum("i", {x}); }, "[2, 2]"},
      {[&] { Einsum("i1", {x}); }, "'1'"},
  };
  for (const auto& [call, text] : cases) {
    EXPECT_EQ(KindOf(Thrown(call)), ErrorKind::kArgument) << text;
    EXPECT_THAT(last_what_, HasSubstr(text));
  }
}

TEST_F(Network, BatchNormUpdatesTheRunningStatistics) {
  const Tensor x = OnDevice({1, 10, 3, 20}, {2, 2});
  const Tensor mean = Zeros({2}, {kF32, device()}), var = Ones({2}, {kF32, device()});
  const Tensor y = BatchNorm(x, mean, var, {}, {}, /*training=*/true, /*momentum=*/0.5);
  // The means are 2 and 15; the population variances are 2 and 50.
  EXPECT_THAT(mean.ToVector<float>(), ElementsAre(1, 7.5));
  EXPECT_THAT(var.ToVector<float>(), ElementsAre(1.5, 25.5));
  EXPECT_THAT(y.ToVector<float>(), ::testing::Each(::testing::AnyOf(::testing::FloatNear(1, 1e-4),
                                                                    ::testing::FloatNear(-1, 1e-4))));
}

TEST_F(Network, DropoutKeepsWhatItDoesNotZeroInProportion) {
  const std::vector<float> kept = Dropout(Ones({10000}, {kF32, device()}), 0.25).ToVector<float>();
  const auto zeros = std::count(kept.begin(), kept.end(), 0.0f);
  EXPECT_NEAR(static_cast<double>(zeros), 2500, 250);
  EXPECT_THAT(kept, ::testing::Each(::testing::AnyOf(0.0f, ::testing::FloatNear(4.0f / 3, 1e-6))));
}

TEST_F(Network, AQueryThatSeesNoKeyGetsZeros) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2});
  const Tensor mask = Zeros({2, 2}, {kPred, device()});
  EXPECT_THAT(ScaledDotProductAttention(x, x, x, {.mask = mask}).ToVector<float>(), ElementsAre(0, 0, 0, 0));
}

// Values of PyTorch 1.13's conv_tbc.
TEST_F(Network, ConvolutionsOverTimeBatchChannels) {
  const Tensor x = Arange(0, 12, 1, {kF32, device()}).Reshape({3, 2, 2}) * .5 - 2;
  const Tensor weight = OnDevice({1, -2, .5, 3, 0, -1, 2, 1, -.5, 4, 1, -3}, {2, 2, 3});
  const Tensor bias = OnDevice({.5, 0, -1}, {3});
  const std::vector<float> inner = {-4, 4.5, -2, 6, 4.5, -6, 16, 4.5, -10, 26, 4.5, -14};
  EXPECT_EQ(ConvTbc(x, weight, bias).dims(), (Dims{2, 2, 3}));
  EXPECT_EQ(ConvTbc(x, weight, bias).ToVector<float>(), inner);
  const std::vector<float> padded = {-9.5, -3.5, 4.5, -3.5, -1.5, 1,   -4, 4.5, -2,   6,  4.5, -6,
                                     16,   4.5,  -10, 26,   4.5,  -14, 10, -4,  -2.5, 14, -6,  -3};
  EXPECT_EQ(ConvTbc(x, weight, bias, 1).ToVector<float>(), padded);
  Throws([&] { ConvTbc(x.Select(0, 0), weight, bias); });
  EXPECT_THAT(last_what_, HasSubstr("are not [time, batch, channels]"));
}

}  // namespace
}  // namespace hlod
