// Jacobians and Hessians. Expected values are those of jax.jacrev, jax.jacfwd and jax.hessian, or computed by
// hand.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

class Jacobians : public TensorTest {
 protected:
  Tensor x() { return OnDevice({1, 2, .5}, {3}); }
  static Tensor F(const Tensor& x) { return Stack({x[0] * x[1], Sin(x[2]), Pow(x[0], 3) + x[2]}); }
  static Tensor G(const Tensor& x) { return Square(x[0]) * x[1] + Sin(x[1] * x[2]); }
};

TEST_F(Jacobians, BothModesGiveJaxs) {
  const std::vector<float> wanted = {2, 1, 0, 0, 0, 0.8775826F, 3, 0, 1};
  for (const Tensor& j : {Jacrev(F)(x()), Jacfwd(F)(x()), Jit(Jacrev(F))(x()), Jit(Jacfwd(F))(x())}) {
    EXPECT_EQ(j.dims(), (Dims{3, 3}));
    EXPECT_THAT(j.ToVector<float>(), Pointwise(FloatNear(1e-6F), wanted));
  }
}

TEST_F(Jacobians, HessiansAreJaxs) {
  const std::vector<float> wanted = {4, 2, 0, 2, -0.2103677F, -0.3011687F, 0, -0.3011687F, -3.3658839F};
  for (const Tensor& h : {Hessian(G)(x()), Jit(Hessian(G))(x()), Jacrev(Jacrev(G))(x())}) {
    EXPECT_EQ(h.dims(), (Dims{3, 3}));
    EXPECT_THAT(h.ToVector<float>(), Pointwise(FloatNear(2e-6F), wanted));
  }
}

// The derivative of erfinv is a formula of its result y, which in a called function and in a loop is a
// residual: the second derivative by hand is pi/2 y exp(2 y^2), and y is 1/2 at erf(1/2).
TEST_F(Jacobians, ASecondDerivativeIsThatOfAResidualToo) {
  const Tensor x = OnDevice({0.52049988F}, {1});
  const auto twice = [&](auto f) {
    return Grad([&](const Tensor& y) { return Sum(Grad([&](const Tensor& z) { return Sum(f(z)); })(y)); })(x)
        .template ToVector<float>();
  };
  const auto plain = [](const Tensor& z) { return Erfinv(z); };
  const auto scanned = [](const Tensor& z) {
    const auto step = [](const Tensor& sum, const Tensor& each) {
      return std::pair(sum + Erfinv(each), std::tuple<>());
    };
    return Scan(step, ZerosLike(z[0]), z).first;
  };
  for (const auto& second : {twice(plain), twice(Jit(plain)), twice(scanned)})
    EXPECT_THAT(second, Pointwise(FloatNear(1e-4F), {1.2949026F}));
}

// The function is y[i,j] = a[i] b[j] + c; expected values are computed by hand.
TEST_F(Jacobians, OfATreeOneMatrixALeaf) {
  using Pair = std::pair<Tensor, Tensor>;
  const auto f = [](const Tensor& a, const Pair& p) { return a.Unsqueeze(1) * p.first + p.second; };
  const Tensor a = OnDevice({2, 3}, {2});
  const Pair p(OnDevice({5, 7, 11}, {3}), OnDevice({1}, {}));
  for (const Pair& by : {Jacrev<1>(f)(a, p), Jacfwd<1>(f)(a, p)}) {
    EXPECT_EQ(by.first.dims(), (Dims{2, 3, 3}));
    EXPECT_THAT(by.first.ToVector<float>(),
                ElementsAre(2, 0, 0, 0, 2, 0, 0, 0, 2, 3, 0, 0, 0, 3, 0, 0, 0, 3));
    EXPECT_EQ(by.second.dims(), (Dims{2, 3}));
    EXPECT_THAT(by.second.ToVector<float>(), ElementsAre(1, 1, 1, 1, 1, 1));
  }
  EXPECT_THAT(Jacrev(f)(a, p).ToVector<float>(), ElementsAre(5, 0, 7, 0, 11, 0, 0, 5, 0, 7, 0, 11));
}

TEST_F(Jacobians, OfNothingAreEmpty) {
  const Tensor none = Zeros({0}, {.device = device()});
  const auto twice = [](const Tensor& x) { return x * 2; };
  EXPECT_EQ(Jacrev(twice)(none).dims(), (Dims{0, 0}));
  EXPECT_EQ(Jacfwd(twice)(none).dims(), (Dims{0, 0}));
}

}  // namespace
}  // namespace hlod
