// Checks the table of derivatives at points without a unique one (hlod/transform/foreign_kinks.inc): each row
// against a loaded program and against an operation on tensors.
#include <cmath>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Floats = std::vector<float>;
using Arrays = std::vector<Tensor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Row {
  const char *id, *function, *point;
  double foreign, tensors;
};
constexpr Row kRows[] = {
#define HLOD_KINK(id, function, point, foreign, tensors) {#id, function, point, foreign, tensors},
#include "hlod/transform/foreign_kinks.inc"
#undef HLOD_KINK
};

// The computation of a row: as instructions of a program with parameters a, b, c (scalars or vectors), whose
// last one is `y`; as a function of tensors; its arguments; and the element of an argument by which it is
// differentiated.
struct Binding {
  std::string shape, instructions;
  std::function<Tensor(const Arrays&)> tensors;
  std::vector<Floats> arguments;
  size_t argument = 0, element = 0;
};

Binding OfOne(std::string opcode, std::function<Tensor(const Tensor&)> f, float x) {
  return Binding{"f32[1]",
                 absl::StrCat(" y = f32[1] ", opcode, "(a)\n"),
                 [f](const Arrays& v) { return f(v[0]); },
                 {{x}}};
}

Binding OfTwo(std::string opcode, Tensor (*f)(const Operand&, const Operand&), float x, float y,
              size_t argument = 0) {
  return Binding{"f32[1]",
                 absl::StrCat(" y = f32[1] ", opcode, "(a, b)\n"),
                 [f](const Arrays& v) { return f(v[0], v[1]); },
                 {{x}, {y}},
                 argument};
}

Binding OfClamp(float low, float x, float high, size_t argument) {
  return Binding{"f32[1]",
                 " y = f32[1] clamp(a, b, c)\n",
                 [](const Arrays& v) { return Clamp(v[1], v[0], v[2]); },
                 {{low}, {x}, {high}},
                 argument};
}

Binding OfWindow(size_t element) {
  return Binding{
      "f32[2]",
      " low = f32[] constant(-inf)\n y = f32[1] reduce-window(a, low), window={size=2}, to_apply=larger\n",
      [](const Arrays& v) {
        return MaxPool1d(v[0].Reshape({1, 1, 2}), 2);
      },
      {{3, 3}},
      0,
      element};
}

Binding OfScatter(size_t element) {
  return Binding{
      "f32[2]",
      " i = s32[2] constant({1, 1})\n zero = f32[] constant(0)\n x = f32[3] broadcast(zero), "
      "dimensions={}\n y = f32[3] scatter(x, i, a), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second\n",
      [](const Arrays& v) {
        const Tensor x = Zeros({3}, {.device = v[0].device()});
        return IndexCopy(x, 0, FromValues<int64_t>({1, 1}, Dims{2}, v[0].device()), v[0]);
      },
      {{5, 7}},
      0,
      element};
}

const std::map<std::string, Binding>& Bindings() {
  static const auto* const bindings = new std::map<std::string, Binding>{
      {"abs", OfOne(
                  "abs", [](const Tensor& x) { return Abs(x); }, 0)},
      {"sign", OfOne(
                   "sign", [](const Tensor& x) { return Sign(x); }, 0)},
      {"floor", OfOne(
                    "floor", [](const Tensor& x) { return Floor(x); }, 1)},
      {"sqrt", OfOne(
                   "sqrt", [](const Tensor& x) { return Sqrt(x); }, 0)},
      {"maximum", OfTwo(
                      "maximum", [](const Operand& x, const Operand& y) { return Maximum(x, y); }, 2, 2)},
      {"minimum", OfTwo(
                      "minimum", [](const Operand& x, const Operand& y) { return Minimum(x, y); }, 2, 2)},
      {"relu",
       {"f32[1]",
        " zero = f32[] constant(0)\n zeros = f32[1] broadcast(zero), dimensions={}\n y = f32[1] maximum(a, "
        "zeros)\n",
        [](const Arrays& v) { return Relu(v[0]); },
        {{0}}}},
      {"clamp_low", OfClamp(1, 1, 2, 1)},
      {"clamp_high", OfClamp(1, 2, 2, 1)},
      {"clamp_bound", OfClamp(1, 1, 2, 0)},
      {"clamp_reversed", OfClamp(2, 0, 1, 2)},
      {"power_base", OfTwo(
                         "power", [](const Operand& x, const Operand& y) { return Pow(x, y); }, 0, 0)},
      {"power_exponent", OfTwo(
                             "power", [](const Operand& x, const Operand& y) { return Pow(x, y); }, 0, 0, 1)},
      {"atan2", OfTwo(
                    "atan2", [](const Operand& x, const Operand& y) { return Atan2(x, y); }, 0, 0)},
      {"largest",
       {"f32[3]",
        " low = f32[] constant(-inf)\n y = f32[] reduce(a, low), dimensions={0}, to_apply=larger\n",
        [](const Arrays& v) { return Amax(v[0]); },
        {{3, 1, 3}}}},
      {"largest_first", OfWindow(0)},
      {"largest_second", OfWindow(1)},
      {"running_largest",
       {"f32[2]",
        " low = f32[] constant(-inf)\n s = f32[2] reduce-window(a, low), window={size=2 pad=1_0}, to_apply=larger\n y "
        "= f32[1] slice(s), slice={[1:2]}\n",
        [](const Arrays& v) { return Cummax(v[0], 0).values.Narrow(0, 1, 1); },
        {{4, 4}}}},
      {"sorted",
       {"f32[2]",
        " s = f32[2] sort(a), dimensions={0}, is_stable=true, to_apply=less\n y = f32[1] slice(s), "
        "slice={[0:1]}\n",
        [](const Arrays& v) { return Sort(v[0]).values.Narrow(0, 0, 1); },
        {{4, 4}}}},
      {"overwritten", OfScatter(0)},
      {"stays", OfScatter(1)},
  };
  return *bindings;
}

constexpr char kReducers[] = R"(HloModule kink
larger {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] maximum(p, q)
}
less {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = pred[] compare(p, q), direction=LT
}
second {
  p = f32[] parameter(0)
  ROOT q = f32[] parameter(1)
}
ENTRY main {
)";

class ForeignKinks : public TensorTest {
 protected:
  double DerivativeOf(const Binding& b, const std::function<Tensor(const Arrays&)>& f) {
    Arrays arguments;
    for (const Floats& values : b.arguments) {
      arguments.push_back(OnDevice(values, {static_cast<int64_t>(values.size())}));
    }
    const Arrays gradients = Grad([&](const Arrays& v) { return Sum(f(v)); })(arguments);
    return gradients[b.argument].ToVector<float>()[b.element];
  }
};

TEST_F(ForeignKinks, AreAsTheTableSays) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(absl::StrCat(row.function, " where ", row.point));
    const auto found = Bindings().find(row.id);
    if (found == Bindings().end()) {
      ADD_FAILURE() << "no test for " << row.id;
      continue;
    }
    const Binding& b = found->second;
    std::string text = kReducers;
    for (size_t i = 0; i < b.arguments.size(); ++i) {
      absl::StrAppend(&text, " ", std::string(1, static_cast<char>('a' + i)), " = ", b.shape, " parameter(",
                      i, ")\n");
    }
    std::string instructions = b.instructions;
    instructions.insert(instructions.find(" y = "), " ROOT");
    const LoadedFunction loaded = LoadFunctionFromBytes(absl::StrCat(text, instructions, "}\n"));
    const auto is = [](double value) {
      return std::isnan(value) ? ::testing::Matcher<double>(::testing::IsNan())
                               : ::testing::Matcher<double>(::testing::Eq(value));
    };
    EXPECT_THAT(DerivativeOf(b, [&](const Arrays& v) { return loaded(v)[0]; }), is(row.foreign)) << "loaded";
    EXPECT_THAT(DerivativeOf(b, b.tensors), is(row.tensors)) << "of tensors";
  }
}

// log(exp(x) + exp(y)) as JAX lowers it; softplus is lowered in the same way.
constexpr const char* kLogAddExp = R"(HloModule m
ENTRY e {
  x = f32[1] parameter(0)
  y = f32[1] parameter(1)
  larger = f32[1] maximum(x, y)
  difference = f32[1] subtract(x, y)
  wrong = pred[1] compare(difference, difference), direction=NE
  sum = f32[1] add(x, y)
  size = f32[1] abs(difference)
  minus = f32[1] negate(size)
  exp = f32[1] exponential(minus)
  log = f32[1] log-plus-one(exp)
  finite = f32[1] add(larger, log)
  ROOT r = f32[1] select(wrong, sum, finite)
})";

// The second derivatives of log(exp(x) + exp(y)) at x = y are those of the logistic function at 0, 1/4, as in
// JAX. Differentiating max and |x - y| separately would give 0.
TEST_F(ForeignKinks, LogAddExpHasItsSecondDerivativeAtATie) {
  const LoadedFunction loaded = LoadFunctionFromBytes(kLogAddExp);
  const auto foreign = [&](const Tensor& x, const Tensor& y) { return Sum(loaded({x, y})[0]); };
  const auto ours = [](const Tensor& x, const Tensor& y) { return Sum(Logaddexp(x, y)); };
  const auto expect = [&](const auto& f) {
    const Tensor at = OnDevice({1.5f}, {1});
    const auto first = [&](const Tensor& x, const Tensor& y) { return Sum(Grad(f)(x, y)); };
    const auto [by_x, by_y] = Grad<0, 1>(first)(at, at);
    EXPECT_EQ(Grad(f)(at, at).template Item<float>(), 0.5f);
    EXPECT_EQ(by_x.template Item<float>(), 0.25f);
    EXPECT_EQ(by_y.template Item<float>(), -0.25f);
  };
  expect(foreign);
  expect(ours);
  const auto second = [&](Tensor (*f)(const Tensor&)) {
    return Grad([f](const Tensor& x) { return Sum(Grad(f)(x)); })(OnDevice({0.0f}, {1})).Item<float>();
  };
  EXPECT_EQ(second([](const Tensor& x) { return Sum(Softplus(x)); }), 0.25f);
  EXPECT_EQ(second([](const Tensor& x) { return Sum(Logsigmoid(x)); }), -0.25f);
}

// At equal infinities each operand gets half of the derivative, as in Logaddexp on tensors, and no derivative
// is NaN.
TEST_F(ForeignKinks, LogAddExpOfInfinities) {
  const Tensor at = OnDevice({static_cast<float>(kInfinity)}, {1});
  const auto f = [](const Tensor& x, const Tensor& y) { return Sum(Logaddexp(x, y)); };
  EXPECT_EQ(Grad(f)(at, at).Item<float>(), 0.5f);
  EXPECT_EQ(Grad(f)(at, at * -1).Item<float>(), 1.0f);
  const auto first = [&](const Tensor& x) { return Sum(Grad(f)(x, x)); };
  EXPECT_EQ(Grad(first)(at).Item<float>(), 0.0f);
}

}  // namespace
}  // namespace hlod
