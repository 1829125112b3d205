// In-place updates (hlod/ops/inplace.h): each stores the result of the operation of the same name, visible in
// all views.
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class InPlace : public TensorTest {};

// An in-place form, and the operation of the same name.
struct InPlaceCase {
  const char* name;
  std::function<Tensor&(Tensor&)> update;
  std::function<Tensor(const Tensor&)> operation;
};
#define HLOD_CASE(Name)                                                                              \
  {                                                                                                  \
#Name, [](Tensor & x) -> Tensor& { return Name##_(x); }, [](const Tensor& x) { return Name(x); } \
  }
#define HLOD_CASE_OF(Name, ...)                                               \
  {                                                                           \
#Name, [=](Tensor & x) -> Tensor& { return Name##_(x, __VA_ARGS__); }, [= \
    ](const Tensor& x) { return Name(x, __VA_ARGS__); }                       \
  }
std::vector<InPlaceCase> CasesOfOne() {
  return {
      HLOD_CASE(Abs),         HLOD_CASE(Neg),        HLOD_CASE(Sign),      HLOD_CASE(Ceil),
      HLOD_CASE(Floor),       HLOD_CASE(Trunc),      HLOD_CASE(Frac),      HLOD_CASE(Round),
      HLOD_CASE(Exp),         HLOD_CASE(Exp2),       HLOD_CASE(Expm1),     HLOD_CASE(Log),
      HLOD_CASE(Log2),        HLOD_CASE(Log10),      HLOD_CASE(Log1p),     HLOD_CASE(Sqrt),
      HLOD_CASE(Rsqrt),       HLOD_CASE(Reciprocal), HLOD_CASE(Square),    HLOD_CASE(Sin),
      HLOD_CASE(Cos),         HLOD_CASE(Tan),        HLOD_CASE(Sinh),      HLOD_CASE(Cosh),
      HLOD_CASE(Tanh),        HLOD_CASE(Asin),       HLOD_CASE(Acos),      HLOD_CASE(Atan),
      HLOD_CASE(Sigmoid),     HLOD_CASE(Erf),        HLOD_CASE(Erfc),      HLOD_CASE(Erfinv),
      HLOD_CASE(Lgamma),      HLOD_CASE(Digamma),    HLOD_CASE(NanToNum),  HLOD_CASE(Relu),
      HLOD_CASE(Relu6),       HLOD_CASE(Selu),       HLOD_CASE(Silu),      HLOD_CASE(Mish),
      HLOD_CASE(Hardsigmoid), HLOD_CASE(Hardswish),  HLOD_CASE(LeakyRelu), HLOD_CASE(Elu),
      HLOD_CASE(Celu),        HLOD_CASE(Hardtanh),   HLOD_CASE(Tril),      HLOD_CASE(Triu),
  };
}

std::vector<InPlaceCase> CasesOfSeveral(const Device& where) {
  const Tensor a = FromValues<float>({1, 2, 3, 4}, Dims{2, 2}, where), b = a * a;
  const Tensor mask = Gt(a, 2), at = FromValues<int64_t>({3, 0}, Dims{2}, where);
  const Tensor pair = FromValues<float>({7, 8}, Dims{2}, where);
  return {
      HLOD_CASE_OF(Pow, a),
      HLOD_CASE_OF(Remainder, 0.4),
      HLOD_CASE_OF(Fmod, 0.4),
      HLOD_CASE_OF(FloorDivide, a),
      HLOD_CASE_OF(Atan2, a),
      HLOD_CASE_OF(ClampMin, 0),
      HLOD_CASE_OF(ClampMax, a * 0.1),
      HLOD_CASE_OF(Lerp, a, 0.25),
      HLOD_CASE_OF(Addcmul, a, b, 0.5),
      HLOD_CASE_OF(Addcdiv, a, b),
      HLOD_CASE_OF(Addmm, a, b, 2, 0.5),
      HLOD_CASE_OF(Addr, pair, pair),
      HLOD_CASE_OF(Threshold, 0.3, 9),
      HLOD_CASE_OF(Cumsum, 1),
      HLOD_CASE_OF(Cumprod, 0),
      HLOD_CASE_OF(MaskedScatter, mask, pair),
      HLOD_CASE_OF(Put, at, pair, true),
  };
}

TEST_F(InPlace, EachShowsWhatItsOperationGives) {
  for (const Device& where : {Device(), device()}) {
    std::vector<InPlaceCase> cases = CasesOfOne();
    for (const InPlaceCase& one : CasesOfSeveral(where)) cases.push_back(one);
    for (const InPlaceCase& one : cases) {
      Tensor x = FromValues<float>({-0.75, 0.5, -0.25, 0.9f}, Dims{2, 2}, where);
      const Tensor expected = one.operation(x), row = x[1];
      EXPECT_EQ(&one.update(x), &x) << one.name;
      EXPECT_TRUE(Allclose(x, expected, 0, 0, true)) << one.name << ": " << x.ToString();
      EXPECT_TRUE(Allclose(row, expected[1], 0, 0, true)) << one.name << " in a view";
    }
  }
}

TEST_F(InPlace, OthersByHand) {
  Tensor x = OnDevice({-2, 0.5, 3}, {3});
  EXPECT_THAT(Clamp_(x, -1, 1).ToVector<float>(), ElementsAre(-1, 0.5f, 1));
  EXPECT_THAT(Clamp_(x, {}, 0.25).ToVector<float>(), ElementsAre(-1, 0.25f, 0.25f));
  Tensor flags = FromValues<bool>({true, false}, Dims{2}, device());
  EXPECT_THAT(LogicalNot_(flags).ToVector<bool>(), ElementsAre(false, true));
  EXPECT_THAT(LogicalOr_(flags, FromValues<bool>({true, false}, Dims{2}, device())).ToVector<bool>(),
              ElementsAre(true, true));
  Tensor bits = FromValues<int32_t>({6, 5}, Dims{2}, device());
  EXPECT_THAT(BitwiseAnd_(bits, 3).ToVector<int32_t>(), ElementsAre(2, 1));
  EXPECT_THAT(BitwiseNot_(bits).ToVector<int32_t>(), ElementsAre(-3, -2));
  EXPECT_THAT(Pow_(bits, 2).ToVector<int32_t>(), ElementsAre(9, 4));
}

TEST_F(InPlace, RandomNumbersAreTheGenerators) {
  ManualSeed(5);
  const std::vector<float> drawn = Uniform({4}, 2, 3, {.device = device()}).ToVector<float>();
  ManualSeed(5);
  Tensor x = Zeros({4}, {.device = device()});
  EXPECT_EQ(Uniform_(x, 2, 3).ToVector<float>(), drawn);
  Normal_(x, 100, 0.5);
  EXPECT_NEAR(Mean(x).Item<float>(), 100, 3);
  EXPECT_THAT(Bernoulli_(x, 1).ToVector<float>(), ElementsAre(1, 1, 1, 1));
}

TEST_F(InPlace, GradientsGoThrough) {
  Tensor w = OnDevice({-1, 2}, {2}).RequiresGrad_();
  Tensor y = w * 3;
  Relu_(y);
  Sum(Square_(y)).Backward();
  EXPECT_THAT(w.Grad().ToVector<float>(), ElementsAre(0, 36));  // The gradient of (3 w)^2 where w > 0.
  EXPECT_EQ(KindOf(Thrown([&] { Relu_(w); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("relu_ (inplace_test.cc:"));
  EXPECT_THAT(last_what_, HasSubstr("requires gradients is updated in place"));
}

TEST_F(InPlace, ResultsThatDoNotFitAreRefused) {
  Tensor counts = FromValues<int64_t>({1, 2});
  EXPECT_EQ(KindOf(Thrown([&] { Sigmoid_(counts); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("a result of type f32 cannot be stored in place as s64"));
  Tensor row = Ones({2});
  EXPECT_EQ(KindOf(Thrown([&] { Addcmul_(row, Ones({3, 2}), 2); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("[3, 2]"));
  EXPECT_THAT(last_what_, HasSubstr("addcmul_ (inplace_test.cc:"));
}

}  // namespace
}  // namespace hlod
