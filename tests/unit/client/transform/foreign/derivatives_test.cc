// Derivatives of loaded programs in cases that a rule easily misses: indices out of range or repeated,
// initial values of reductions, custom reducers, operands of different types, fusions. Expected values are
// computed by hand.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Floats = std::vector<float>;
using Arrays = std::vector<Tensor>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Computations that the entries below call.
constexpr char kComputations[] = R"(HloModule case
sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
difference {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] subtract(p, q)
}
product {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] multiply(p, q)
}
larger {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] maximum(p, q)
}
second {
  p = f32[] parameter(0)
  ROOT q = f32[] parameter(1)
}
sum_and_half_product {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  half = f32[] constant(0.5)
  s = f32[] add(p, q)
  m = f32[] multiply(p, q)
  h = f32[] multiply(m, half)
  ROOT r = f32[] add(s, h)
}
range {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  low = f32[] minimum(a, c)
  high = f32[] maximum(b, d)
  ROOT r = (f32[], f32[]) tuple(low, high)
}
square_and_more {
  x = f32[2] parameter(0)
  s = f32[2] multiply(x, x)
  ROOT y = f32[2] add(s, x)
}
ENTRY main {
)";

// A program of parameters a, b, ... of `shapes`, and the gradients by each argument of the sum of its
// results' elements times 1, 2, 3, ...
struct Case {
  const char* name;
  std::vector<const char*> shapes;
  const char* entry;
  std::vector<Floats> arguments, gradients;
};

const Case kCases[] = {
    {"a gather reads the nearest element",
     {"f32[3]"},
     " i = s32[3] constant({-1, 1, 7})\n ROOT y = f32[3] gather(a, i), offset_dims={}, "
     "collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n",
     {{1, 2, 3}},
     {{1, 2, 3}}},
    {"a gather of windows moves them inside",
     {"f32[4]"},
     " i = u8[2,1] constant({{3}, {200}})\n ROOT y = f32[2,3] gather(a, i), offset_dims={1}, "
     "collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={3}\n",
     {{1, 2, 3, 4}},
     {{0, 5, 7, 9}}},
    {"a scatter keeps one of the updates of a place",
     {"f32[3]", "f32[3]"},
     " i = s32[3] constant({1, 1, 5})\n ROOT y = f32[3] scatter(a, i, b), update_window_dims={}, "
     "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second\n",
     {{1, 2, 3}, {4, 5, 6}},
     {{1, 0, 3}, {0, 2, 0}}},
    {"a scatter that subtracts",
     {"f32[2]", "f32[3]"},
     " i = s32[3] constant({1, 1, 0})\n ROOT y = f32[2] scatter(a, i, b), update_window_dims={}, "
     "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=difference\n",
     {{1, 2}, {4, 5, 6}},
     {{1, 2}, {-2, -2, -1}}},
    {"a product from 2",
     {"f32[2]"},
     " two = f32[] constant(2)\n ROOT y = f32[] reduce(a, two), dimensions={0}, to_apply=product\n",
     {{3, 4}},
     {{8, 6}}},
    {"a product with a zero",
     {"f32[3]"},
     " two = f32[] constant(2)\n ROOT y = f32[] reduce(a, two), dimensions={0}, to_apply=product\n",
     {{0, 4, 5}},
     {{40, 0, 0}}},
    {"a product by what it begins with",
     {"f32[2]", "f32[]"},
     " ROOT y = f32[] reduce(a, b), dimensions={0}, to_apply=product\n",
     {{3, 4}, {2}},
     {{8, 6}, {12}}},
    {"a sum by what it begins with",
     {"f32[2,2]", "f32[]"},
     " ROOT y = f32[2] reduce(a, b), dimensions={1}, to_apply=sum\n",
     {{1, 1, 1, 1}, {2}},
     {{1, 1, 2, 2}, {3}}},
    {"a maximum that is the initial value",
     {"f32[2,2]"},
     " zero = f32[] constant(0)\n ROOT y = f32[2] reduce(a, zero), dimensions={1}, to_apply=larger\n",
     {{-1, -2, -1, 2}},
     {{0, 0, 0, 2}}},
    {"a maximum over no dimensions",
     {"f32[3]"},
     " zero = f32[] constant(0)\n ROOT y = f32[3] reduce(a, zero), dimensions={}, to_apply=larger\n",
     {{kNaN, 1, -1}},
     {{1, 2, 0}}},
    {"windows whose maximum is the initial value",
     {"f32[3]"},
     " zero = f32[] constant(0)\n ROOT y = f32[2] reduce-window(a, zero), window={size=2}, to_apply=larger\n",
     {{-1, -2, 3}},
     {{0, 0, 2}}},
    {"windows that multiply",
     {"f32[3]"},
     " one = f32[] constant(1)\n ROOT y = f32[2] reduce-window(a, one), window={size=2}, to_apply=product\n",
     {{2, 3, 5}},
     {{3, 12, 6}}},
    {"a minimum beside a maximum",
     {"f32[2]", "f32[2]"},
     " inf = f32[] constant(inf)\n none = f32[] constant(-inf)\n r = (f32[], f32[]) reduce(a, b, inf, none), "
     "dimensions={0}, to_apply=range\n low = f32[] get-tuple-element(r), index=0\n high = f32[] "
     "get-tuple-element(r), index=1\n l = f32[1] reshape(low)\n h = f32[1] reshape(high)\n ROOT y = f32[2] "
     "concatenate(l, h), dimensions={0}\n",
     {{3, 1}, {5, 2}},
     {{0, 1}, {2, 0}}},
    {"windows of a minimum beside a maximum",
     {"f32[2]", "f32[2]"},
     " inf = f32[] constant(inf)\n none = f32[] constant(-inf)\n r = (f32[1], f32[1]) reduce-window(a, b, "
     "inf, none), window={size=2}, to_apply=range\n l = f32[1] get-tuple-element(r), index=0\n h = f32[1] "
     "get-tuple-element(r), index=1\n ROOT y = f32[2] concatenate(l, h), dimensions={0}\n",
     {{3, 1}, {5, 2}},
     {{0, 1}, {2, 0}}},
    // With r the result, 1 + r / 2 is the product of 1 + x / 2 over the elements: (1.5 * 2 * 3 - 1) * 2.
    {"a reducer of one's own",
     {"f32[2]"},
     " one = f32[] constant(1)\n ROOT y = f32[] reduce(a, one), dimensions={0}, "
     "to_apply=sum_and_half_product\n",
     {{2, 4}},
     {{4.5, 3}}},
    {"bounds the wrong way round",
     {"f32[3]", "f32[3]", "f32[3]"},
     " ROOT y = f32[3] clamp(a, b, c)\n",
     {{2, 2, 2}, {0, 1.5, 3}, {1, 1, 1}},
     {{0, 0, 0}, {0, 0, 0}, {1, 2, 3}}},
    {"a dot with whole numbers",
     {"f32[2]"},
     " w = s8[2,2] constant({{1, 2}, {3, 4}})\n c = f32[2] constant({0.25, 0.25})\n d = f32[2] dot(a, w), "
     "lhs_contracting_dims={0}, rhs_contracting_dims={0}\n ROOT y = f32[2] multiply(d, c)\n",
     {{1, 1}},
     {{1.25, 2.75}}},
    // 1 + 2^-10 is not a bf16 number.
    {"a dot with bf16",
     {"f32[1]"},
     " w = bf16[1] constant({2})\n c = f32[] constant(1.0009765625)\n d = f32[] dot(a, w), "
     "lhs_contracting_dims={0}, "
     "rhs_contracting_dims={0}\n ROOT y = f32[] multiply(d, c)\n",
     {{1}},
     {{2.001953125}}},
    {"a convolution with bf16",
     {"f32[1,1,2]"},
     " w = bf16[1,1,1] constant({{{2}}})\n c = f32[] constant(1.0009765625)\n cs = f32[1,1,2] broadcast(c), "
     "dimensions={}\n d = f32[1,1,2] convolution(a, w), window={size=1}, dim_labels=bf0_oi0->bf0\n ROOT y = "
     "f32[1,1,2] multiply(d, cs)\n",
     {{1, 1}},
     {{2.001953125, 4.00390625}}},
    {"softplus as JAX writes it",
     {"f32[2]"},
     " zero = f32[] constant(0)\n zeros = f32[2] broadcast(zero), dimensions={}\n m = f32[2] maximum(a, "
     "zeros)\n s = f32[2] abs(a)\n n = f32[2] negate(s)\n e = f32[2] exponential(n)\n l = f32[2] "
     "log-plus-one(e)\n ROOT y = f32[2] add(m, l)\n",
     {{0, 100}},
     {{0.5, 2}}},
    {"a logistic function as JAX writes it",
     {"f32[2]"},
     " one = f32[] constant(1)\n ones = f32[2] broadcast(one), dimensions={}\n n = f32[2] negate(a)\n e = "
     "f32[2] exponential(n)\n d = f32[2] add(ones, e)\n ROOT y = f32[2] divide(ones, d)\n",
     {{0, -120}},
     {{0.25, 0}}},
    {"powers to 0",
     {"f32[2]", "f32[2]"},
     " ROOT y = f32[2] power(a, b)\n",
     {{2, 0}, {0, 0}},
     {{0, 0}, {0.693147180559945f, 0}}},
    {"a fusion",
     {"f32[2]"},
     " ROOT y = f32[2] fusion(a), kind=kLoop, calls=square_and_more\n",
     {{3, -1}},
     {{7, -2}}},
};

class ForeignDerivatives : public TensorTest {
 protected:
  // Returns the sum of all elements times 1, 2, 3, ...
  static Tensor Weighted(const Tensor& y) {
    return Sum(y * Arange(1, y.numel() + 1, 1, {.type = kF32, .device = y.device()}).Reshape(y.dims()));
  }
  static LoadedFunction Load(const Case& c) {
    std::string text = kComputations;
    for (size_t i = 0; i < c.shapes.size(); ++i) {
      absl::StrAppend(&text, " ", std::string(1, static_cast<char>('a' + i)), " = ", c.shapes[i],
                      " parameter(", i, ")\n");
    }
    return LoadFunctionFromBytes(absl::StrCat(text, c.entry, "}\n"));
  }
};

TEST_F(ForeignDerivatives, BothModes) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const LoadedFunction loaded = Load(c);
    const auto f = [&](const Arrays& v) { return Weighted(loaded(v)[0]); };
    Arrays arguments;
    for (size_t i = 0; i < c.arguments.size(); ++i) {
      arguments.push_back(OnDevice(c.arguments[i], loaded.parameters()[i].dims));
    }
    const Arrays gradients = Grad(f)(arguments);
    for (size_t i = 0; i < arguments.size(); ++i) {
      EXPECT_EQ(gradients[i].ToVector<float>(), c.gradients[i]) << "by argument " << i;
      // Forward mode along the tangent (1, 2, 3, ...) of one argument, with zero tangents for the others.
      Arrays tangents;
      for (const Tensor& x : arguments) tangents.push_back(ZerosLike(x));
      float expected = 0;
      Floats along;
      for (size_t k = 0; k < c.gradients[i].size(); ++k) {
        along.push_back(static_cast<float>(k + 1));
        expected += along[k] * c.gradients[i][k];
      }
      tangents[i] = OnDevice(along, arguments[i].dims());
      EXPECT_FLOAT_EQ(Jvp(f, std::tuple(arguments), std::tuple(tangents)).second.Item<float>(), expected);
    }
    // A batch of two equal examples.
    Arrays twice;
    for (const Tensor& x : arguments) twice.push_back(Stack({x, x}));
    // Batching would require the same initial value of a reduction for all examples.
    if (c.arguments.size() == 2 && c.arguments[1].size() == 1) continue;
    const Arrays batched = Vmap(Grad(f))(twice);
    for (size_t i = 0; i < batched.size(); ++i) {
      EXPECT_EQ(batched[i].Select(0, 1).ToVector<float>(), c.gradients[i]) << "of the second example";
    }
  }
}

// jax.nn.relu has the derivative 0 at 0, and a user's max(x, 0) of that name 0.5, as max has: JAX states a
// file for the instructions of the user's function alone. Another body has its own derivative.
TEST_F(ForeignDerivatives, RecognizesJaxsReluByMoreThanItsName) {
  const auto slope = [&](const std::string& body) {
    const LoadedFunction loaded = LoadFunctionFromBytes(absl::StrCat(R"(module @jit_f {
  func.func public @main(%arg0: tensor<1xf32>) -> tensor<1xf32> {
    %0 = call @relu(%arg0) : (tensor<1xf32>) -> tensor<1xf32>
    return %0 : tensor<1xf32>
  }
  func.func private @relu(%arg0: tensor<1xf32>) -> tensor<1xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<1xf32>
)",
                                                                     body, R"(
    return %1 : tensor<1xf32>
  }
})"));
    return Grad([&](const Tensor& x) { return Sum(loaded({x})[0]); })(OnDevice({0}, {1})).Item<float>();
  };
  const std::string maximum = "    %1 = stablehlo.maximum %arg0, %zero : tensor<1xf32>";
  EXPECT_EQ(slope(maximum), 0);
  EXPECT_EQ(slope(maximum + " loc(\"max\")"), 0);
  EXPECT_EQ(slope(maximum + " loc(\"max\"(\"relu\"(\"model.py\":4:20 to :37)))"), 0.5f);
  // An earlier JAX.
  EXPECT_EQ(slope(maximum + " loc(\"jit(f)/jit(main)/jit(relu)/max\"(\"model.py\":4:20))"), 0);
  EXPECT_EQ(slope("    %1 = stablehlo.add %arg0, %arg0 : tensor<1xf32>"), 2);
}

// hlod has the derivative of betainc by a, which JAX has not; but not the one of that by x, which is refused.
// By x and then by a it is the derivative of the density 3 (1 - x)^2 x^(a - 1) a (a + 1) (a + 2) / 6 of
// betainc(a, 3, x).
TEST_F(ForeignDerivatives, MixedDerivativesOfBetainc) {
  const LoadedFunction betainc =
      LoadFunction((SourceDir() / "tests/unit/client/transform/foreign/betainc.mlir").string());
  const Tensor a = FromValues<double>({2}, Dims{1}, device()), b = FromValues<double>({3}, Dims{1}, device()),
               x = FromValues<double>({0.25}, Dims{1}, device());
  const auto value = [&](const Tensor& a, const Tensor& x) { return Sum(betainc({a, b, x})[0]); };
  const auto by_a = [&](const Tensor& a, const Tensor& x) { return Sum(Grad<0>(value)(a, x)); };
  const auto by_x = [&](const Tensor& a, const Tensor& x) { return Sum(Grad<1>(value)(a, x)); };
  const double density = 12 * 0.25 * 0.75 * 0.75;
  EXPECT_NEAR(by_x(a, x).Item<double>(), density, 1e-12);
  EXPECT_NEAR(Grad<0>(by_x)(a, x).Item<double>(), density * (std::log(0.25) + 1. / 2 + 1. / 3 + 1. / 4),
              1e-6);
  static_cast<void>(Grad<0>(by_a)(a, x).Item<double>());
  Throws([&] { Grad<1>(by_a)(a, x); });
  EXPECT_THAT(last_what_, HasSubstr("betainc has no derivative by a or b, and then by x"));
}

// A product of bf16 with an f32 result keeps that type in a batch: 257 is not a bf16 number.
TEST_F(ForeignDerivatives, ABatchedProductKeepsItsType) {
  const Case dot = {"",
                    {"bf16[2]", "bf16[2]"},
                    " ROOT y = f32[] dot(a, b), lhs_contracting_dims={0}, "
                    "rhs_contracting_dims={0}\n",
                    {},
                    {}};
  const Case convolution = {"",
                            {"bf16[1,1,2]", "bf16[1,1,2]"},
                            " ROOT y = f32[1,1,1] convolution(a, b), "
                            "window={size=2}, dim_labels=bf0_oi0->bf0\n",
                            {},
                            {}};
  for (const Case& c : {dot, convolution}) {
    const LoadedFunction loaded = Load(c);
    const auto f = [&](const Tensor& x, const Tensor& y) { return loaded({x, y})[0]; };
    const Tensor x = OnDevice({256, 1}, loaded.parameters()[0].dims).To(kBF16);
    const Tensor ones = OnesLike(x);
    for (const VmapOptions& in : {VmapOptions{.in = {0, 0}}, VmapOptions{.in = {0, std::nullopt}},
                                  VmapOptions{.in = {std::nullopt, 0}}}) {
      const auto of = [&](const Tensor& x, size_t i) { return in.in[i].has_value() ? Stack({x}) : x; };
      const Tensor y = Vmap(f, in)(of(x, 0), of(ones, 1));
      EXPECT_EQ(y.dtype(), kF32);
      EXPECT_THAT(y.Reshape({1}).ToVector<float>(), ElementsAre(257));
    }
  }
}

}  // namespace
}  // namespace hlod
