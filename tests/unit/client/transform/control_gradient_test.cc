// Derivatives through loops and branches, compared with JAX's and with finite differences: by Grad, Jvp, Grad
// of Grad, Vmap of Grad, Jit and Backward().
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Json = nlohmann::json;
using Ts = std::vector<Tensor>;
using Pair = std::pair<Tensor, Tensor>;
using Function = std::function<Tensor(const Ts&)>;

// Returns the weighted sum of control/generate.py.
Tensor Weighted(const Tensor& x) {
  const Tensor weights = Cos(Arange(0, x.numel(), 1, {.type = kF64, .device = x.device()}));
  return Sum(x * weights.Reshape(x.dims()));
}

Tensor Rnn(const Ts& x, bool reverse) {
  const Tensor &w = x[2], &b = x[3];
  const auto [h, ys] = Scan(
      [&](const Tensor& h, const Tensor& x) {
        const Tensor next = Tanh(MatMul(h, w) + x + b);
        return Pair(next, next * x);
      },
      x[0], x[1], {.reverse = reverse});
  return Weighted(h) + Weighted(ys);
}

Tensor OutputsOnly(const Ts& x) {
  return Weighted(
      Scan([](const Tensor& c, const Tensor& x) { return Pair(c, Sin(c * x)); }, x[0], x[1]).second);
}

Tensor RunningProduct(const Ts& x) {
  return Weighted(Scan([](const Tensor& c, const Tensor& x) { return Pair(c * x, c); }, x[0], x[1]).second);
}

Tensor Nested(const Ts& x) {
  const Tensor &xs = x[1], &w = x[2];
  const auto [c, ys] = Scan(
      [&](const Tensor& c, const Tensor& x) {
        const auto [inner, ys] =
            Scan([&](const Tensor& c, const Tensor& y) { return Pair(Sin(c * w) + y, c * y); }, c, xs);
        return Pair(inner + x, Weighted(ys));
      },
      x[0], xs);
  return Weighted(c) + Weighted(ys);
}

Tensor Counted(const Ts& x) {
  const Tensor zero = Zeros({}, {.type = kS32, .device = x[0].device()});
  const auto [carry, ys] = Scan(
      [](const Pair& carry, const Tensor& x) {
        const auto& [i, c] = carry;
        const Tensor at = IndexSelect(c, 0, Remainder(i, 2).To(kS64).Reshape({1})).Reshape(Dims{});
        return std::pair<Pair, Tensor>(Pair(i + 1, c + Sin(x * i.To(kF64)) * c), at);
      },
      Pair(zero, x[0]), x[1]);
  return Weighted(carry.second) + Weighted(ys);
}

Tensor BranchInLoop(const Ts& x) {
  const auto [c, ys] = Scan(
      [](const Tensor& c, const Tensor& x) {
        const Tensor next = Cond(
            Gt(Sum(c), 0), [&](const Tensor& c) { return Sin(c) * x; },
            [&](const Tensor& c) { return Exp(c) + Cos(x); }, c);
        return Pair(next, next);
      },
      x[0], x[1]);
  return Weighted(c) + Weighted(ys);
}

Tensor OneOfTwo(const Ts& x) {
  return Weighted(Cond(
      Gt(Sum(x[0]), 0), [](const Tensor& v) { return Sin(v) * Tanh(v); },
      [&](const Tensor& v) { return Exp(v * x[1]); }, x[0]));
}

Tensor OneOfThree(const Ts& x) {
  using Branch = std::function<Tensor(const Tensor&)>;
  const std::vector<Branch> branches = {[](const Tensor& v) { return Sin(v); },
                                        [&](const Tensor& v) { return Exp(v) * x[1]; },
                                        [](const Tensor& v) { return v * v; }};
  Tensor sum = Sum(x[0]) * 0;
  for (int64_t i = 0; i < 3; ++i) {
    sum = sum + Weighted(Switch(FromValues<int64_t>({i}, Dims{}, x[0].device()), branches, x[0]));
  }
  return sum;
}

Tensor Fori(const Ts& x) {
  return Weighted(ForiLoop(
      0, 4, [](const Tensor& i, const Tensor& c) { return Sin(c) * (i + 1).To(kF64) + c * c; }, x[0]));
}

struct Layer {
  Tensor w, b;
};
Tensor Layers(const Ts& x, const CheckpointPolicy& policy) {
  const auto block = Checkpoint(
      [](const Layer& layer, const Tensor& x) { return Tanh(MatMul(x, layer.w) + layer.b); }, policy);
  return Weighted(
      Scan([&](const Tensor& h,
               const Layer& layer) { return std::pair<Tensor, std::tuple<>>(block(layer, h), {}); },
           x[0], Layer{x[1], x[2]})
          .first);
}

Tensor Recurrence(const Ts& x) {
  const auto step = [](const Pair& p, const Pair& q) {
    return Pair(p.first * q.first, p.second * q.first + q.second);
  };
  return Weighted(AssociativeScan(step, Pair(x[0], x[1])).second);
}

Tensor Products(const Ts& x, bool reverse) {
  return Weighted(AssociativeScan([](const Tensor& p, const Tensor& q) { return MatMul(q, p); }, x[0],
                                  {.reverse = reverse}));
}

Tensor SumsOfColumns(const Ts& x) {
  return Weighted(
      AssociativeScan([](const Tensor& p, const Tensor& q) { return p + q + p * q; }, x[0], {.dim = -1}));
}

Tensor Mapped(const Ts& x, int64_t batch_size) {
  const auto [ys, zs] = Map(
      [&](const Tensor& row) {
        return Pair(Tanh(MatMul(row.Unsqueeze(0), x[1]).Squeeze(0)), Sum(row * row));
      },
      x[0], {.batch_size = batch_size});
  return Weighted(ys) + Weighted(zs);
}

Tensor InterpAt(const Ts& x, const std::vector<double>& points) {
  return Weighted(Interp(x[0], FromValues<double>(points, {}, x[0].device()), x[1]));
}

Tensor Convolved(const Ts& x, ConvolveMode mode) {
  const Tensor other = Convolve(x[1], x[0], mode);
  return Weighted(Convolve(x[0], x[1], mode)) + Weighted(other * other);
}
Tensor Correlated(const Ts& x, ConvolveMode mode) {
  const Tensor other = Correlate(x[1], x[0], mode);
  return Weighted(Correlate(x[0], x[1], mode)) + Weighted(other * other);
}

const std::map<std::string, Function>& Cases() {
  static const auto* const cases = new std::map<std::string, Function>{
      {"rnn", [](const Ts& x) { return Rnn(x, false); }},
      {"rnn_reverse", [](const Ts& x) { return Rnn(x, true); }},
      {"outputs_only", OutputsOnly},
      {"running_product", RunningProduct},
      {"nested", Nested},
      {"counted", Counted},
      {"branch_in_loop", BranchInLoop},
      {"cond", OneOfTwo},
      {"switch", OneOfThree},
      {"fori", Fori},
      {"layers", [](const Ts& x) { return Layers(x, CheckpointPolicy::Nothing()); }},
      {"layers_dots", [](const Ts& x) { return Layers(x, CheckpointPolicy::Dots()); }},
      {"recurrence", Recurrence},
      {"products", [](const Ts& x) { return Products(x, false); }},
      {"products_reverse", [](const Ts& x) { return Products(x, true); }},
      {"sums_of_columns", SumsOfColumns},
      {"mapped", [](const Ts& x) { return Mapped(x, 0); }},
      {"mapped_by_two", [](const Ts& x) { return Mapped(x, 2); }},
      {"mapped_by_many", [](const Ts& x) { return Mapped(x, 8); }},
      {"interp", [](const Ts& x) { return Weighted(Interp(x[0], x[1], x[2])); }},
      {"interp_ends",
       [](const Ts& x) { return Weighted(Interp(x[0], x[1], x[2], {.left = -3, .right = 5})); }},
      {"interp_extrapolate",
       [](const Ts& x) {
         return Weighted(Interp(x[0], x[1], x[2], {.extrapolate_left = true, .extrapolate_right = true})) +
                Weighted(Interp(x[0], x[1], x[2], {.extrapolate_left = true}));
       }},
      {"interp_period", [](const Ts& x) { return Weighted(Interp(x[0], x[1], x[2], {.period = 0.9})); }},
      {"interp_equal",
       [](const Ts& x) {
         return InterpAt(x, {-0.5, -0.1, -0.1, 0.4});
       }},
      {"interp_one", [](const Ts& x) { return InterpAt(x, {0.1}); }},
      {"convolve_full", [](const Ts& x) { return Convolved(x, ConvolveMode::kFull); }},
      {"convolve_same", [](const Ts& x) { return Convolved(x, ConvolveMode::kSame); }},
      {"convolve_valid", [](const Ts& x) { return Convolved(x, ConvolveMode::kValid); }},
      {"correlate_full", [](const Ts& x) { return Correlated(x, ConvolveMode::kFull); }},
      {"correlate_same", [](const Ts& x) { return Correlated(x, ConvolveMode::kSame); }},
      {"correlate_valid", [](const Ts& x) { return Correlated(x, ConvolveMode::kValid); }},
  };
  return *cases;
}

const Json& Recorded() {
  static const auto* const recorded = [] {
    std::ifstream file(SourceDir() / "tests/unit/client/transform/control/control.json");
    return new Json(Json::parse(file));
  }();
  return *recorded;
}

Dims DimsOf(const Json& array) {
  const auto dims = array["dims"].get<std::vector<int64_t>>();
  return Dims(dims.begin(), dims.end());
}
Tensor FromJson(const Json& array, const Device& device) {
  return FromValues<double>(array["values"].get<std::vector<double>>(), DimsOf(array), device);
}

constexpr double kTolerance = 1e-9;

void ExpectNear(const Tensor& tensor, const Json& expected, const std::string& what) {
  ASSERT_EQ(tensor.dims(), DimsOf(expected)) << what;
  const std::vector<double> values = tensor.ToVector<double>();
  const auto wanted = expected["values"].get<std::vector<double>>();
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(values[i], wanted[i], kTolerance * (1 + std::abs(wanted[i]))) << what << ", element " << i;
  }
}
void ExpectAllNear(const Ts& tensors, const Json& expected, const std::string& what) {
  ASSERT_EQ(tensors.size(), expected.size()) << what;
  for (size_t i = 0; i < tensors.size(); ++i) ExpectNear(tensors[i], expected[i], what + std::to_string(i));
}

class ControlGradients : public TensorTest, public ::testing::WithParamInterface<std::string> {
 protected:
  const Function& f() const { return Cases().at(GetParam()); }
  const Json& recorded() const { return Recorded().at(GetParam()); }
  Ts Inputs(const Device& where) const {
    Ts inputs;
    for (const Json& input : recorded()["inputs"]) inputs.push_back(FromJson(input, where));
    return inputs;
  }
};

TEST_P(ControlGradients, OfGrad) {
  const Ts inputs = Inputs(Device());
  ExpectNear(f()(inputs), recorded()["value"], "value");
  ExpectAllNear(Grad(f())(inputs), recorded()["gradients"], "gradient ");
}

TEST_P(ControlGradients, OfGradUnderJitOnADevice) {
  const auto step = Jit(ValueAndGrad(f()));
  for (int i = 0; i < 2; ++i) {
    const auto [value, gradients] = step(Inputs(device()));
    ExpectNear(value, recorded()["value"], "value");
    ExpectAllNear(gradients, recorded()["gradients"], "gradient ");
  }
}

TEST_P(ControlGradients, OfJvp) {
  for (const Device& where : {Device(), device()}) {
    const Ts inputs = Inputs(where);
    Ts tangents;
    for (const Tensor& input : inputs) {
      tangents.push_back(
          Cos(Arange(0, input.numel(), 1, {.type = kF64, .device = where})).Reshape(input.dims()));
    }
    const auto [value, derivative] = Jvp(f(), std::tuple(inputs), std::tuple(tangents));
    ExpectNear(value, recorded()["value"], "value");
    const double expected = recorded()["directional"];
    EXPECT_NEAR(derivative.Item<double>(), expected, kTolerance * (1 + std::abs(expected)));
  }
}

TEST_P(ControlGradients, OfLinearize) {
  const Ts inputs = Inputs(device());
  const auto [value, linear] = Linearize(f(), std::tuple(inputs));
  ExpectNear(value, recorded()["value"], "value");
  for (const double scale : {1.0, -2.0}) {
    Ts tangents;
    for (const Tensor& input : inputs) {
      tangents.push_back(
          Cos(Arange(0, input.numel(), 1, {.type = kF64, .device = device()})).Reshape(input.dims()) * scale);
    }
    const double expected = scale * recorded()["directional"].get<double>();
    EXPECT_NEAR(linear(std::tuple(tangents)).Item<double>(), expected, kTolerance * (1 + std::abs(expected)));
  }
}

TEST_P(ControlGradients, OfTheGradient) {
  const auto second = Grad([f = f()](const Ts& x) {
    const Ts gradients = Grad(f)(x);
    Tensor sum = Weighted(gradients[0]);
    for (size_t i = 1; i < gradients.size(); ++i) sum = sum + Weighted(gradients[i]);
    return sum;
  });
  ExpectAllNear(second(Inputs(Device())), recorded()["second"], "second ");
  ExpectAllNear(Jit(second)(Inputs(device())), recorded()["second"], "second on the device ");
}

TEST_P(ControlGradients, OfABatch) {
  const Ts inputs = Inputs(device());
  const Tensor batch = Stack({inputs[0], inputs[0] * -0.5, inputs[0] * 0.25});
  const Ts rest(inputs.begin() + 1, inputs.end());
  const auto each = Vmap(
      [f = f()](const Tensor& first, const Ts& rest) {
        Ts all = {first};
        all.insert(all.end(), rest.begin(), rest.end());
        return Grad(f)(all);
      },
      {.in = {0, std::nullopt}});
  ExpectAllNear(each(batch, rest), recorded()["batched"], "batched ");
}

TEST_P(ControlGradients, OfBackward) {
  for (const bool sync : {false, true}) {
    Ts inputs = Inputs(device());
    for (Tensor& input : inputs) input.RequiresGrad_();
    const Tensor loss = f()(inputs);
    if (sync) ExpectNear(loss.Detach(), recorded()["value"], "value");
    loss.Backward();
    Ts gradients;
    for (const Tensor& input : inputs) gradients.push_back(input.Grad());
    ExpectAllNear(gradients, recorded()["gradients"], "gradient ");
  }
}

TEST_P(ControlGradients, MatchFiniteDifferences) {
  const Ts inputs = Inputs(Device());
  const Ts gradients = Grad(f())(inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<double> values = inputs[i].ToVector<double>(), by = gradients[i].ToVector<double>();
    for (size_t k = 0; k < values.size(); ++k) {
      const double h = 1e-5;
      double ends[2];
      for (const int side : {0, 1}) {
        std::vector<double> moved = values;
        moved[k] += side == 0 ? -h : h;
        Ts at = inputs;
        at[i] = FromValues<double>(moved, inputs[i].dims());
        ends[side] = f()(at).Item<double>();
      }
      EXPECT_NEAR(by[k], (ends[1] - ends[0]) / (2 * h), 1e-7 * (1 + std::abs(by[k])))
          << "input " << i << ", element " << k;
    }
  }
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, f] : Cases()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, ControlGradients, ::testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

using SliceFunctions = TensorTest;

// A product of matrices of size 400,000 would take minutes on the host, but it is neither computed nor sent.
TEST_F(SliceFunctions, EvalShapeComputesNothing) {
  const Tensor x = Placeholder({400'000, 8}, kBF16, device()), w = Placeholder({8, 400'000}, kBF16, device());
  const SessionStats before = Account();
  const auto [y, z] = EvalShape(
      [](const Tensor& x, const Tensor& w) { return std::pair(MatMul(x, w), Sum(x.To(kF32), {0})); },
      std::tuple(x, w));
  EXPECT_EQ(y.dims(), (Dims{400'000, 400'000}));
  EXPECT_EQ(y.dtype(), kBF16);
  EXPECT_EQ(z.dims(), Dims{8});
  EXPECT_EQ(z.dtype(), kF32);
  const Tensor on_host = EvalShape([](const Tensor& x) { return MatMul(x, x); }, std::tuple(Zeros({3, 3})));
  EXPECT_EQ(on_host.dims(), (Dims{3, 3}));
  Sync();
  EXPECT_EQ(Account().executes, before.executes);
  EXPECT_EQ(Account().host_to_device, before.host_to_device);
}

// jnp.convolve([1, 2, 3], [1, 1]) returns floats; jnp.correlate([1, 2j], [1j]) conjugates its second
// argument.
TEST_F(SliceFunctions, ConvolutionsOfIntegersAndComplexNumbers) {
  for (const Device& where : {Device(), device()}) {
    const Tensor sums = Convolve(FromValues<int64_t>({1, 2, 3}, {}, where), Ones({2}, {.device = where}));
    EXPECT_THAT(sums.ToVector<float>(), ElementsAre(1, 3, 5, 3));
    using Complex = std::complex<float>;
    const Tensor turned =
        Correlate(FromValues<Complex>({1, {0, 2}}, {}, where), FromValues<Complex>({{0, 1}}, {}, where));
    EXPECT_THAT(turned.ToVector<Complex>(), ElementsAre(Complex(0, -1), Complex(2, 0)));
  }
}

TEST_F(SliceFunctions, NothingAndOneSlice) {
  const auto sum = [](const Tensor& a, const Tensor& b) { return a + b; };
  EXPECT_EQ(AssociativeScan(sum, Zeros({0, 2})).dims(), (Dims{0, 2}));
  EXPECT_THAT(AssociativeScan(sum, OnDevice({3, 4}, {1, 2})).ToVector<float>(), ElementsAre(3, 4));
  EXPECT_EQ(Map([](const Tensor& x) { return x * 2; }, Zeros({0, 2}), {.batch_size = 3}).dims(),
            (Dims{0, 2}));
}

TEST_F(SliceFunctions, WhatDoesNotFitIsNamed) {
  const auto refusal = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto sum = [](const Pair& a, const Pair& b) { return Pair(a.first + b.first, a.second + b.second); };
  const std::string sizes = refusal([&] { AssociativeScan(sum, Pair(Zeros({2}), Zeros({3}))); });
  EXPECT_THAT(sizes, HasSubstr("has 3 slices"));
  EXPECT_THAT(sizes, HasSubstr("control_gradient_test.cc:"));
  EXPECT_THAT(refusal([&] { Map([](const Tensor& x) { return x; }, Zeros({2}), {.batch_size = -1}); }),
              HasSubstr("a batch of -1 slices"));
  EXPECT_THAT(refusal([&] {
                AssociativeScan([](const Tensor& a, const Tensor&) { return Sum(a); }, Zeros({4, 2}));
              }),
              HasSubstr("what it gives is like what it takes"));
  EXPECT_THAT(refusal([&] { Interp(Zeros({2}), Zeros({3}), Zeros({2})); }),
              HasSubstr("points and values are vectors of one size, at least 1, not of shapes [3] and [2]"));
  EXPECT_THAT(refusal([&] { Interp(Zeros({2}), Zeros({3}), Zeros({3}), {.period = 0}); }),
              HasSubstr("the period is 0; it must not be 0"));
  EXPECT_THAT(refusal([&] { Convolve(Zeros({0}), Zeros({2})); }),
              HasSubstr("vectors of at least one element"));
}

}  // namespace
}  // namespace hlod
