// Vmap and Checkpoint. A batched function must return what the function returns example by example; a
// checkpointed one must have the same gradients.
#include "tests/unit/client/tensor/fixture.h"
#include "tests/unit/client/transform/cases.h"

namespace hlod {
namespace {

using Ts = std::vector<Tensor>;

int64_t Elements(const Dims& dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return count;
}

Tensor Example(const Dims& dims, int64_t index) {
  return Cos(Arange(0, Elements(dims), 1, {.type = kF64}).Reshape(dims) * 1.7 + static_cast<double>(index)) *
         0.9;
}

struct Case {
  std::string name;
  std::vector<Dims> inputs;
};

// The functions of DerivativeCases() that are batched, with the shapes of one example.
const std::vector<Case>& Cases() {
  static const auto* const cases = new std::vector<Case>{
      {"tanh", {{2, 3}}},
      {"add_broadcast", {{2, 3}, {3}}},
      {"where", {{4}, {4}}},
      {"relu6", {{4}}},
      {"sum", {{2, 3}}},
      {"amax", {{2, 3}}},
      {"softmax", {{2, 3}}},
      {"cross_entropy", {{4, 3}}},
      {"matmul", {{2, 3}, {3, 4}}},
      {"matmul_batch", {{2, 2, 3}, {2, 3, 2}}},
      {"einsum", {{2, 3, 4}, {5, 4, 2}}},
      {"conv2d", {{2, 2, 4, 4}, {3, 2, 3, 3}, {3}}},
      {"conv2d_groups", {{2, 4, 3, 3}, {6, 2, 3, 3}}},
      {"max_pool2d", {{1, 2, 4, 4}}},
      {"permute", {{2, 3, 2}}},
      {"slice", {{2, 7}}},
      {"cat", {{2, 2}, {2, 1}}},
      {"pad", {{2, 3}}},
      {"flip", {{2, 3}}},
      {"diagonal", {{3, 3}}},
      {"index_select", {{3, 2}}},
      {"gather", {{2, 3}}},
      {"scatter_add", {{2, 3}, {2, 3}}},
      {"index_copy", {{3, 2}, {2, 2}}},
      {"sort", {{2, 4}}},
      {"layer_norm", {{3, 4}, {4}, {4}}},
      {"attention", {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}},
      {"in_place", {{2, 3}}},
  };
  return *cases;
}

class Vmaps : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr int64_t kSize = 3;
  // Batches only argument `only`, along its last dimension; with -1 all arguments, along the first dimension.
  void Check(const Function& f, int only) {
    Ts batched;
    VmapOptions options;
    for (size_t i = 0; i < GetParam().inputs.size(); ++i) {
      Ts examples;
      for (int64_t k = 0; k < kSize; ++k) examples.push_back(Example(GetParam().inputs[i], 10 * k));
      const bool shared = only >= 0 && static_cast<int>(i) != only;
      batched.push_back(shared ? examples[0] : Stack(examples, only >= 0 ? -1 : 0));
    }
    const auto over = [&](const Ts& all) {
      std::vector<std::optional<int64_t>> in;
      for (size_t i = 0; i < all.size(); ++i) {
        if (only < 0) in.emplace_back(0);
        else if (static_cast<int>(i) == only) in.emplace_back(-1);
        else in.emplace_back(std::nullopt);
      }
      while (in.size() < 3) in.emplace_back(std::nullopt);
      Ts padded = all;
      while (padded.size() < 3) padded.push_back(Zeros({}, {.type = kF64}));
      return Vmap(
          [&](const Tensor& a, const Tensor& b, const Tensor& c) {
            Ts x = {a, b, c};
            x.resize(all.size());
            return f(x);
          },
          {.in = in})(padded[0], padded[1], padded[2]);
    };
    const Tensor result = over(batched);
    for (int64_t k = 0; k < kSize; ++k) {
      Ts one;
      for (size_t i = 0; i < batched.size(); ++i) {
        one.push_back(only >= 0 && static_cast<int>(i) != only ? batched[i]
                                                               : batched[i].Select(only >= 0 ? -1 : 0, k));
      }
      const std::vector<double> expected = f(one).ToVector<double>();
      const std::vector<double> got = result.Select(0, k).ToVector<double>();
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << "example " << k;
      }
    }
  }
};

TEST_P(Vmaps, OverAllArguments) { Check(DerivativeCases().at(GetParam().name), -1); }
TEST_P(Vmaps, OverEachArgument) {
  for (int i = 0; i < static_cast<int>(GetParam().inputs.size()); ++i) {
    Check(DerivativeCases().at(GetParam().name), i);
  }
}
TEST_P(Vmaps, OfTheGradient) {
  Check(
      [f = DerivativeCases().at(GetParam().name)](const Ts& x) {
        return Grad([&](const Tensor& first) {
          Ts all = x;
          all[0] = first;
          return Sum(Sin(f(all)));
        })(x[0]);
      },
      -1);
}

INSTANTIATE_TEST_SUITE_P(All, Vmaps, ::testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

class Batches : public TensorTest {};

TEST_F(Batches, PerExampleGradientsOnADevice) {
  const Tensor w = OnDevice({1, 2}, {2}), x = OnDevice({1, 2, 3, 4, 5, 6}, {3, 2});
  const auto loss = [](const Tensor& w, const Tensor& x) { return Sum(w * x) * Sum(x); };
  const Tensor gradients = Jit(Vmap(Grad(loss), {.in = {std::nullopt, 0}}))(w, x);
  EXPECT_THAT(gradients.ToVector<float>(), ElementsAre(3, 6, 21, 28, 55, 66));
  EXPECT_EQ(GetTraceStats().compiles, 1);
}

// The gradient of a grouped convolution by its kernel is a convolution with batch groups.
TEST_F(Batches, GradientsOfGroupedConvolutionsByTheirKernels) {
  for (const int64_t groups : {2, 4}) {  // With 4 groups the convolution is depthwise.
    const Dims image = {2, 4, 5, 5}, kernel = {8, 4 / groups, 3, 3}, out = {2, 8, 5, 5};
    const auto stacked = [](const Dims& dims) {
      return Stack({Example(dims, 0), Example(dims, 10), Example(dims, 20)});
    };
    const auto gradient = [&](const Tensor& x, const Tensor& y, const Tensor& w) {
      return Grad(
          [&](const Tensor& w) { return Sum(Conv2d(x, w, {}, {.padding = 1, .groups = groups}) * y); })(w);
    };
    const Tensor xs = stacked(image), ys = stacked(out), w = Example(kernel, 7);
    using Axis = std::optional<int64_t>;
    const std::vector<std::pair<Axis, Axis>> cases = {{0, 0}, {0, std::nullopt}, {std::nullopt, 0}};
    for (const auto& [of_x, of_y] : cases) {
      const Tensor x = of_x ? xs : xs[0], y = of_y ? ys : ys[0];
      const Tensor all = Vmap(gradient, {.in = {of_x, of_y, std::nullopt}})(x, y, w);
      for (int64_t k = 0; k < 3; ++k) {
        const Tensor one = gradient(of_x ? xs[k] : xs[0], of_y ? ys[k] : ys[0], w);
        EXPECT_EQ(all[k].dims(), kernel);
        EXPECT_LT(Max(Abs(all[k] - one)).Item<double>(), 1e-11) << groups << " groups, example " << k;
      }
    }
  }
}

TEST_F(Batches, SizesMustAgree) {
  const auto f = Vmap([](const Tensor& x, const Tensor& y) { return x + y; });
  Throws([&] { f(OnDevice({1, 2}, {2}), OnDevice({1, 2, 3}, {3})); });
  EXPECT_THAT(last_what_, HasSubstr("argument.1 has 3 examples, argument.0 has 2"));
  Throws([&] { Vmap([](const Tensor& x) { return x; }, {.in = {1}})(OnDevice({1, 2}, {2})); });
  EXPECT_THAT(last_what_, HasSubstr("argument.0 is f32[2] and has no dimension 1"));
  Throws([&] { f(OnDevice({}, {0}), OnDevice({}, {0})); });
  EXPECT_THAT(last_what_, HasSubstr("argument.0 is f32[0] and has no examples"));
}

TEST_F(Batches, RandomNumbersAreTheSameOrDifferent) {
  const Tensor x = Zeros({4, 8}, {.device = device()});
  const auto f = [&](const Tensor& x) { return x + Rand({8}, {.device = device()}); };
  Throws([&] { Vmap(f)(x); });
  EXPECT_THAT(last_what_, HasSubstr("same or different"));
  const Tensor same = Vmap(f, {.randomness = Randomness::kSame})(x);
  EXPECT_EQ(same.Select(0, 0).ToVector<float>(), same.Select(0, 3).ToVector<float>());
  const Tensor different = Vmap(f, {.randomness = Randomness::kDifferent})(x);
  EXPECT_NE(different.Select(0, 0).ToVector<float>(), different.Select(0, 3).ToVector<float>());
}

TEST_F(Batches, RandomNumbersInAScanDifferBetweenExamplesAndTurns) {
  const Tensor xs = Zeros({5}, {.device = device()}), start = Zeros({4}, {.device = device()});
  const auto draw = [&](const Tensor& c) {
    return Scan([](const Tensor& c,
                   const Tensor& x) { return std::pair(c, Rand({4}, {.device = x.device()}) + x + c); },
                c, xs)
        .second;
  };
  // The result is [4, 5, 4].
  const std::vector<float> values =
      Vmap(draw, {.randomness = Randomness::kDifferent})(start).ToVector<float>();
  for (size_t i = 0; i < 20; ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(std::vector<float>(values.begin() + 4 * i, values.begin() + 4 * i + 4),
                std::vector<float>(values.begin() + 4 * j, values.begin() + 4 * j + 4))
          << i << " and " << j;
    }
  }
}

class Checkpoints : public TensorTest {
 protected:
  // Two layers; the first is checkpointed.
  auto Loss(const CheckpointPolicy& policy) {
    return [=](const Tensor& w, const Tensor& x) {
      const auto layer = Checkpoint(
          [](const Tensor& w, const Tensor& x) {
            return Tanh(CheckpointName(MatMul(Sin(MatMul(x, w)), w), "second"));
          },
          policy);
      return Sum(MatMul(layer(w, x), w));
    };
  }
  static int64_t CountOf(const std::string& text, const std::string& word) {
    int64_t count = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
  }
};

TEST_F(Checkpoints, PoliciesChangeTheCostAndNotTheGradient) {
  const Tensor w = OnDevice({0.1f, 0.2f, -0.3f, 0.4f}, {2, 2}), x = OnDevice({1, 2, 3, 4}, {2, 2});
  const std::vector<float> plain = Grad(Loss(CheckpointPolicy::Everything()))(w, x).ToVector<float>();
  const auto sines = [&](const CheckpointPolicy& policy) {
    const Tensor gradient = Grad(Loss(policy))(w, x);
    const std::string text = Dump(gradient, DumpFormat::kHlo);
    const std::vector<float> values = gradient.ToVector<float>();
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], plain[i], 1e-5);
    return std::pair(CountOf(text, " tanh("), CountOf(text, "opt-barrier("));
  };
  EXPECT_EQ(sines(CheckpointPolicy::Everything()).second, 0);
  // One barrier separates the recomputation from the forward pass.
  EXPECT_EQ(sines(CheckpointPolicy::Nothing()).second, 1);
  EXPECT_EQ(sines(CheckpointPolicy::Dots()).second, 1);
  const auto dots = [&](const CheckpointPolicy& policy) {
    return CountOf(Dump(Grad(Loss(policy))(w, x), DumpFormat::kHlo), " dot(");
  };
  const int64_t everything = dots(CheckpointPolicy::Everything());
  EXPECT_EQ(dots(CheckpointPolicy::Dots()), everything);  // No product is computed twice.
  EXPECT_EQ(dots(CheckpointPolicy::Names({"second"})), everything + 1);
  EXPECT_EQ(dots(CheckpointPolicy::Nothing()), everything + 1);  // tanh's result is an output and is kept.
}

TEST_F(Checkpoints, WorkWithBackwardAndTwice) {
  Tensor w = OnDevice({0.1f, 0.2f, -0.3f, 0.4f}, {2, 2}).RequiresGrad_();
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2});
  Loss(CheckpointPolicy::Nothing())(w, x).Backward();
  const std::vector<float> expected =
      Grad(Loss(CheckpointPolicy::Everything()))(w.Detach(), x).ToVector<float>();
  const std::vector<float> got = w.Grad().ToVector<float>();
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5);
  const auto twice = [&](const CheckpointPolicy& policy) {
    return Grad([&, policy](const Tensor& w) { return Sum(Square(Grad(Loss(policy))(w, x))); })(w.Detach())
        .ToVector<float>();
  };
  const std::vector<float> a = twice(CheckpointPolicy::Nothing()), b = twice(CheckpointPolicy::Everything());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-3);
}

}  // namespace
}  // namespace hlod
