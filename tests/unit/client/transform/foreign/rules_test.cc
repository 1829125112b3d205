// Derivatives of loaded programs whose opcodes no tensor operation makes: ragged dots, batch norms, maps,
// scans along other dimensions. Expected values are JAX's: jax.vjp of lax.ragged_dot_general and of the
// functions' formulas.
#include <numeric>

#include "absl/strings/str_cat.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::Pointwise;
using Floats = std::vector<float>;

class ForeignRules : public TensorTest {
 protected:
  // Returns numbers that count from -3 to 3 repeatedly.
  Tensor Counted(Dims dims, int offset) {
    Floats values(
        static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>())));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i + offset) % 7) - 3;
    return OnDevice(values, std::move(dims));
  }
  // Returns the sum of the elements times 1, 2, 3, ..., which are the cotangents.
  static Tensor Weighted(const Tensor& y) {
    return Sum(y * Arange(1, y.numel() + 1, 1, {.type = kF32, .device = y.device()}).Reshape(y.dims()));
  }
};

struct Ragged {
  const char *name, *lhs, *rhs, *sizes, *result, *numbers;
  Dims lhs_dims, rhs_dims;
  std::vector<int64_t> groups;
  Dims group_dims;
  int rhs_offset;
  Floats y, lhs_gradient, rhs_gradient;
};

const Ragged kRagged[] = {
    {"rows",
     "f32[4,2]",
     "f32[2,2,3]",
     "s32[2]",
     "f32[4,3]",
     "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
     {4, 2},
     {2, 2, 3},
     {1, 2},
     {2},
     2,
     {-1, -6, 3, 2, 1, 0, 0, 3, 6, 0, 0, 0},
     {2, -1, -13, 32, -22, 50, 0, 0},
     {-3, -6, -9, -2, -4, -6, 3, 3, 3, 14, 16, 18}},
    {"rows of batches",
     "f32[4,2,2]",
     "f32[3,2,2,2]",
     "s32[2,2]",
     "f32[2,4,3]",
     "lhs_batch_dims={2}, lhs_contracting_dims={1}, rhs_batch_dims={1}, rhs_contracting_dims={3}, "
     "lhs_ragged_dims={0}, rhs_group_dims={2}",
     {4, 2, 2},
     {3, 2, 2, 2},
     {1, 2, 3, 1},
     {2, 2},
     2,
     {3, -1, -5, 7, 11, -6, -2, -4, -6, 0, 0, 0, -6, 6, 4, 15, 0, -1, -6, 1, 1, -4, -3, -2},
     {2, -33, 8, -82, 32, -39, 5, -100, 50, -45, 11, -118, 0, -67, 0, 2},
     {-3,  -1,  -10, 12,  -13, -29, 66,  -44, -6,  -2,  -11, 15,
      -14, -31, 69,  -46, -9,  -3,  -12, 18,  -15, -33, 72,  -48}},
    {"a product for each group",
     "f32[4,2]",
     "f32[3,4]",
     "s32[2]",
     "f32[2,2,3]",
     "lhs_contracting_dims={0}, rhs_contracting_dims={1}, lhs_ragged_dims={0}",
     {4, 2},
     {3, 4},
     {1, 2},
     {2},
     1,
     {6, -6, 3, 4, -4, 2, 1, -6, 1, 0, -6, 2},
     {-1, -4, 17, 23, -15, -21, 0, 0},
     {-11, -7, 27, 0, -16, -8, 30, 0, -21, -9, 33, 0}},
    {"groups of whole products",
     "f32[3,2,2]",
     "f32[3,2,2]",
     "s32[2]",
     "f32[3,2,2]",
     "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}, "
     "lhs_ragged_dims={0}",
     {3, 2, 2},
     {3, 2, 2},
     {1, 2},
     {2},
     1,
     {6, 1, 2, 1, -4, -1, 15, 15, 1, -2, 1, 2},
     {-4, 2, -10, 4, 28, -27, 38, -37, -9, 29, -11, 35},
     {-6, -10, -2, -4, 26, 30, -11, -12, -18, -20, 2, 2}},
};

TEST_F(ForeignRules, RaggedDotsOfEveryMode) {
  for (const Ragged& c : kRagged) {
    SCOPED_TRACE(c.name);
    const LoadedFunction dot = LoadFunctionFromBytes(absl::StrCat(
        "HloModule ragged\nENTRY main {\n a = ", c.lhs, " parameter(0)\n b = ", c.rhs, " parameter(1)\n g = ",
        c.sizes, " parameter(2)\n ROOT y = ", c.result, " ragged-dot(a, b, g), ", c.numbers, "\n}\n"));
    const Tensor lhs = Counted(c.lhs_dims, 0), rhs = Counted(c.rhs_dims, c.rhs_offset);
    const Tensor groups = FromValues<int64_t>(c.groups, c.group_dims, lhs.device()).To(kS32);
    const auto f = [&](const Tensor& a, const Tensor& b) { return dot({a, b, groups})[0]; };
    EXPECT_EQ(f(lhs, rhs).ToVector<float>(), c.y);
    const auto [of_lhs, of_rhs] =
        Grad<0, 1>([&](const Tensor& a, const Tensor& b) { return Weighted(f(a, b)); })(lhs, rhs);
    EXPECT_EQ(of_lhs.ToVector<float>(), c.lhs_gradient);
    EXPECT_EQ(of_rhs.ToVector<float>(), c.rhs_gradient);
  }
}

MATCHER(Near, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) < 2e-4f; }

TEST_F(ForeignRules, BatchNorms) {
  const LoadedFunction norm = LoadFunctionFromBytes(R"(HloModule norm
ENTRY main {
  x = f32[3,3] parameter(0)
  scale = f32[3] parameter(1)
  offset = f32[3] parameter(2)
  norm = (f32[3,3], f32[3], f32[3]) batch-norm-training(x, scale, offset), epsilon=0.01, feature_index=1
  ROOT y = f32[3,3] get-tuple-element(norm), index=0
}
)");
  const Tensor x = OnDevice({1, 2, -1, 3, 0, 5, 2, 4, 0.5}, {3, 3}), scale = OnDevice({1, 2, -1}, {3});
  const Tensor offset = OnDevice({0.5, 0, 1}, {3});
  const auto f = [&](const Tensor& x, const Tensor& s, const Tensor& o) {
    return Weighted(norm({x, s, o})[0]);
  };
  EXPECT_NEAR(f(x, scale, offset).Item<float>(), 33.21803, 1e-4);
  const auto [dx, ds, d_offset] = Grad<0, 1, 2>(f)(x, scale, offset);
  EXPECT_THAT(dx.ToVector<float>(),
              Pointwise(Near(), Floats{-1.850441, -3.667364, 0.950026, -1.796545, 1.826832, 0.3160732,
                                       3.646984, 1.840533, -1.266099}));
  EXPECT_THAT(ds.ToVector<float>(), Pointwise(Near(), Floats{3.646984, 3.667365, 1.763689}));
  EXPECT_THAT(d_offset.ToVector<float>(), Pointwise(Near(), Floats{12, 15, 18}));
}

TEST_F(ForeignRules, Maps) {
  // The elementwise function jnp.where(x * y > 0.5, (x * y) ** 2, x / 2).
  const LoadedFunction map = LoadFunctionFromBytes(R"(HloModule map
body {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] multiply(a, b)
  half = f32[] constant(0.5)
  p = pred[] compare(c, half), direction=GT
  square = f32[] multiply(c, c)
  part = f32[] multiply(a, half)
  ROOT r = f32[] select(p, square, part)
}
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  ROOT m = f32[4] map(x, y), dimensions={0}, to_apply=body
}
)");
  const Tensor x = OnDevice({1, 2, 0.25, -1}, {4}), y = OnDevice({1, -1, 1, -3}, {4});
  const auto f = [&](const Tensor& x, const Tensor& y) { return Sum(map({x, y})[0]); };
  const auto [dx, dy] = Grad<0, 1>(f)(x, y);
  EXPECT_EQ(dx.ToVector<float>(), (Floats{2, 0.5, 0.5, -18}));
  EXPECT_EQ(dy.ToVector<float>(), (Floats{2, 0, 0, -6}));
}

// Running sums of x * x along dimension 1 of [2, 3, 2], which start from an array [2, 2]. Expected values are
// computed by hand.
TEST_F(ForeignRules, AScanAlongAnInnerDimension) {
  const LoadedFunction sums = LoadFunctionFromBytes(R"(HloModule sums
body {
  x = f32[2,2] parameter(0)
  c = f32[2,2] parameter(1)
  square = f32[2,2] multiply(x, x)
  next = f32[2,2] add(c, square)
  ROOT r = (f32[2,2], f32[2,2]) tuple(next, next)
}
ENTRY main {
  x = f32[2,3,2] parameter(0)
  c = f32[2,2] parameter(1)
  ROOT s = (f32[2,3,2], f32[2,2]) scan(x, c), dimensions={1}, num_carries=1, to_apply=body
}
)");
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6}, {2, 3, 2}),
               c = OnDevice({1, 0, 0, 10}, {2, 2});
  const std::vector<Tensor> result = sums({x, c});
  EXPECT_EQ(result[0].ToVector<float>(), (Floats{2, 4, 11, 20, 36, 56, 1, 14, 10, 30, 35, 66}));
  EXPECT_EQ(result[1].ToVector<float>(), (Floats{36, 56, 35, 66}));
  // The loss is the sum of all running sums, with the last ones counted twice; each square counts once per
  // sum that includes it.
  const auto f = [&](const Tensor& x, const Tensor& c) {
    const std::vector<Tensor> y = sums({x, c});
    return Sum(y[0]) + Sum(y[1]);
  };
  const auto [dx, dc] = Grad<0, 1>(f)(x, c);
  EXPECT_EQ(dx.ToVector<float>(), (Floats{8, 16, 18, 24, 20, 24, -8, -16, -18, -24, -20, -24}));
  EXPECT_EQ(dc.ToVector<float>(), (Floats{4, 4, 4, 4}));
  const auto one = [&](const Tensor& x) { return sums({x, c})[1]; };
  const Tensor batch = Stack({x, x + x});
  EXPECT_EQ(Vmap(one)(batch).ToVector<float>(), (Floats{36, 56, 35, 66, 141, 224, 140, 234}));
}

// Windows of one element do not extend along any dimension. Expected values are computed by hand.
TEST_F(ForeignRules, ProductsOfSingleElements) {
  const LoadedFunction products = LoadFunctionFromBytes(R"(HloModule products
multiply {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] multiply(a, b)
}
ENTRY main {
  x = f32[2,1] parameter(0)
  one = f32[] constant(1)
  ROOT y = f32[2,1] reduce-window(x, one), window={size=1x1}, to_apply=multiply
}
)");
  const Tensor x = OnDevice({3, 5}, {2, 1});
  const auto f = [&](const Tensor& x) { return Weighted(products({x})[0]); };
  EXPECT_EQ(Grad(f)(x).ToVector<float>(), (Floats{1, 2}));
}

}  // namespace
}  // namespace hlod
