// A setting that varies, such as an eps, a margin or a shift, is a number of the program: it compiles no more
// than twice. Expected values are PyTorch's (generate.py).
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using json = nlohmann::json;

struct Inputs {
  Tensor x, y, image, whole, signs, infinite, classes;
};
using SettingCall = std::function<Tensor(const Inputs&, double)>;
using SettingCalls = std::map<std::string, SettingCall>;

int64_t Whole(double value) { return static_cast<int64_t>(value + 1e-9); }

const json& Recorded() {
  static const json recorded =
      json::parse(std::ifstream(SourceDir() / "tests/unit/client/tensor/settings/expected.json"));
  return recorded;
}

class Settings : public TensorTest {
 protected:
  Inputs MakeInputs() {
    Inputs in;
    in.x = OnDevice(Recorded().at("x").get<std::vector<float>>(), {3, 4});
    in.y = OnDevice(Recorded().at("y").get<std::vector<float>>(), {3, 4});
    in.image = in.x.Reshape({1, 1, 3, 4});
    in.whole = FromValues<int64_t>({3, 1, 4, 1, 5, 9, 2, 6}, Dims{2, 4}, device());
    in.signs = OnDevice({1, -1, 1, -1, -1, 1, -1, 1, 1, 1, -1, -1}, {3, 4});
    in.infinite = OnDevice({NAN, INFINITY, -INFINITY, 1}, {4});
    in.classes = FromValues<int64_t>({1, 3, 0}, Dims{3}, device());
    return in;
  }

  // Calls each with all values, and compares the results with those of the same name.
  void Check(const SettingCalls& calls) {
    const auto values = Recorded().at("values").get<std::vector<double>>();
    const Inputs in = MakeInputs();
    for (const auto& [name, call] : calls) {
      ASSERT_TRUE(Recorded().at("expected").contains(name)) << name;
      const json& expected = Recorded().at("expected").at(name);
      int64_t compiled_twice = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        const std::vector<float> got = call(in, values[i]).To(kF32).ToVector<float>();
        ExpectNear(got, expected[i].get<std::vector<double>>(), name + " of " + std::to_string(values[i]));
        if (i == 1) compiled_twice = GetTraceStats().compiles;
      }
      EXPECT_EQ(GetTraceStats().compiles, compiled_twice) << name;
    }
  }

  static void ExpectNear(const std::vector<float>& got, const std::vector<double>& expected,
                         const std::string& what) {
    ASSERT_EQ(got.size(), expected.size()) << what;
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 2e-5 * (1 + std::abs(expected[i]))) << what << ", element " << i;
  }

  // Returns the running mean and variance of three or four channels after a call.
  Tensor Running(int64_t channels, const std::function<void(const Tensor&, const Tensor&)>& call) {
    const Tensor mean = Zeros({channels}, {.device = device()}), var = Ones({channels}, {.device = device()});
    call(mean, var);
    return Cat({mean, var}, 0);
  }
};

TEST_F(Settings, OfNormalisation) {
  Check({
      {"batch_norm eps",
       [](const Inputs& in, double v) { return BatchNorm(in.x, {}, {}, {}, {}, true, 0.1, v); }},
      {"batch_norm inference eps",
       [](const Inputs& in, double v) {
         return BatchNorm(in.x, in.x.Select(0, 0), Abs(in.y.Select(0, 2)), {}, {}, false, 0.1, v);
       }},
      {"batch_norm momentum",
       [&](const Inputs& in, double v) {
         return Running(4, [&](const Tensor& mean, const Tensor& var) {
           BatchNorm(in.x, mean, var, {}, {}, true, v / 2);
         });
       }},
      {"instance_norm momentum",
       [&](const Inputs& in, double v) {
         return Running(3, [&](const Tensor& mean, const Tensor& var) {
           InstanceNorm(in.x.Unsqueeze(0), mean, var, {}, {}, true, v / 2);
         });
       }},
      {"layer_norm eps", [](const Inputs& in, double v) { return LayerNorm(in.x, {4}, {}, {}, v); }},
      {"rms_norm eps", [](const Inputs& in, double v) { return RmsNorm(in.x, {4}, {}, v); }},
      {"group_norm eps", [](const Inputs& in, double v) { return GroupNorm(in.x, 2, {}, {}, v); }},
      {"local_response_norm alpha",
       [](const Inputs& in, double v) { return LocalResponseNorm(in.image.Transpose(1, 2), 2, v); }},
      {"local_response_norm beta",
       [](const Inputs& in, double v) { return LocalResponseNorm(in.image.Transpose(1, 2), 2, 1e-4, v); }},
      {"local_response_norm k",
       [](const Inputs& in, double v) {
         return LocalResponseNorm(in.image.Transpose(1, 2), 2, 1e-4, 0.75, v);
       }},
      {"normalize eps", [](const Inputs& in, double v) { return Normalize(in.x, 2, 1, 2 * v); }},
  });
}

TEST_F(Settings, OfActivations) {
  Check({
      {"threshold threshold", [](const Inputs& in, double v) { return Threshold(in.x, v, 5); }},
      {"threshold value", [](const Inputs& in, double v) { return Threshold(in.x, 0.5, v); }},
      {"leaky_relu", [](const Inputs& in, double v) { return LeakyRelu(in.x, v); }},
      {"elu", [](const Inputs& in, double v) { return Elu(in.x, v); }},
      {"celu", [](const Inputs& in, double v) { return Celu(in.x, v); }},
      {"softplus beta", [](const Inputs& in, double v) { return Softplus(in.x, v); }},
      {"softplus threshold", [](const Inputs& in, double v) { return Softplus(in.x, 1, v); }},
      {"hardtanh", [](const Inputs& in, double v) { return Hardtanh(in.x, -v, 2 * v); }},
      {"hardshrink", [](const Inputs& in, double v) { return Hardshrink(in.x, v); }},
      {"softshrink", [](const Inputs& in, double v) { return Softshrink(in.x, v); }},
      {"attention scale",
       [](const Inputs& in, double v) { return ScaledDotProductAttention(in.x, in.y, in.x, {.scale = v}); }},
  });
}

TEST_F(Settings, OfMovement) {
  Check({
      {"roll", [](const Inputs& in, double v) { return Roll(in.x, {Whole(10 * v)}, {}); }},
      {"roll dims",
       [](const Inputs& in, double v) {
         return Roll(in.x, {Whole(10 * v), -Whole(10 * v)}, {0, 1});
       }},
      {"pad value",
       [](const Inputs& in, double v) {
         return Pad(in.x, {1, 2}, PadMode::kConstant, v);
       }},
      {"tril", [](const Inputs& in, double v) { return Tril(in.x, Whole(2 * v) - 1); }},
      {"triu", [](const Inputs& in, double v) { return Triu(in.x, Whole(2 * v) - 1); }},
      {"avg_pool2d divisor",
       [](const Inputs& in, double v) { return AvgPool2d(in.image, 2, {.divisor = Whole(10 * v)}); }},
      {"lp_pool2d", [](const Inputs& in, double v) { return LpPool2d(Abs(in.image), v, 2); }},
      {"embedding max_norm",
       [](const Inputs& in, double v) {
         return Embedding(in.classes, Cat({in.y, in.y}, 0), {.max_norm = MaxNorm{.max = v}});
       }},
  });
}

TEST_F(Settings, OfArithmetic) {
  Check({
      {"add alpha", [](const Inputs& in, double v) { return Add(in.x, in.y, v); }},
      {"add alpha of integers",
       [](const Inputs& in, double v) { return Add(in.whole, in.whole, Whole(10 * v)); }},
      {"rsub alpha", [](const Inputs& in, double v) { return Rsub(in.x, in.y, v); }},
      {"addcmul", [](const Inputs& in, double v) { return Addcmul(in.x, in.x, in.y, v); }},
      {"addcmul of integers",
       [](const Inputs& in, double v) { return Addcmul(in.whole, in.whole, in.whole, Whole(10 * v)); }},
      {"addcdiv", [](const Inputs& in, double v) { return Addcdiv(in.x, in.x, in.y, v); }},
      {"addmm alpha", [](const Inputs& in,
                         double v) { return Addmm(in.x.Select(0, 0), in.x, MatMul(in.y.T(), in.y), 1, v); }},
      {"addmm beta", [](const Inputs& in,
                        double v) { return Addmm(in.x.Select(0, 0), in.x, MatMul(in.y.T(), in.y), v, 1); }},
      {"addmm of integers",
       [](const Inputs& in, double v) {
         return Addmm(in.whole.Slice(1, 0, 2), in.whole, in.whole.T(), Whole(20 * v), Whole(10 * v));
       }},
      {"index_add alpha",
       [](const Inputs& in, double v) {
         return IndexAdd(in.x, 0, in.classes.Slice(0, 0, 3, 2), in.y.Slice(0, 0, 2), v);
       }},
      {"nan_to_num", [](const Inputs& in, double v) { return NanToNum(in.infinite, v, 2 * v, -3 * v); }},
      {"logit eps", [](const Inputs& in, double v) { return Logit(Abs(in.x) / 3, v / 4); }},
      {"round decimals", [](const Inputs& in, double v) { return Round(in.x * 1.23456, Whole(3 * v) + 1); }},
      {"clamp", [](const Inputs& in, double v) { return Clamp(in.x, Operand(-v), Operand(v)); }},
      {"lerp", [](const Inputs& in, double v) { return Lerp(in.x, in.y, v); }},
      {"isclose rtol", [](const Inputs& in, double v) { return Isclose(in.x, in.y, v, 0.1); }},
      {"isclose atol", [](const Inputs& in, double v) { return Isclose(in.x, in.y, 1e-5, v); }},
  });
}

TEST_F(Settings, OfReductions) {
  Check({
      {"histc min", [](const Inputs& in, double v) { return Histc(in.x, 4, -v, 2); }},
      {"histc max", [](const Inputs& in, double v) { return Histc(in.x, 4, -1, v); }},
      {"var correction", [](const Inputs& in, double v) { return Var(in.x, {1}, v); }},
      {"std correction", [](const Inputs& in, double v) { return Std(in.x, {1}, v); }},
      {"norm", [](const Inputs& in, double v) { return VectorNorm(in.x, v, {1}); }},
      {"pdist", [](const Inputs& in, double v) { return Pdist(in.x, v); }},
      {"cdist", [](const Inputs& in, double v) { return Cdist(in.x, in.y, v); }},
      {"renorm p", [](const Inputs& in, double v) { return Renorm(in.x, v, 0, 1); }},
      {"renorm maxnorm", [](const Inputs& in, double v) { return Renorm(in.x, 2, 0, v); }},
      {"pairwise_distance eps",
       [](const Inputs& in, double v) { return PairwiseDistance(in.x, in.y, 2, v); }},
      {"quantile", [](const Inputs& in, double v) { return Quantile(in.x, v / 2, 1); }},
      {"trapezoid dx", [](const Inputs& in, double v) { return Trapezoid(in.x, v); }},
      {"matrix_rank",
       [](const Inputs& in, double v) {
         return linalg::MatrixRank(MatMul(in.x, in.x.T()), {.absolute = 3 * v});
       }},
  });
}

TEST_F(Settings, OfLosses) {
  Check({
      {"smooth_l1_loss", [](const Inputs& in, double v) { return SmoothL1Loss(in.x, in.y, v); }},
      {"huber_loss", [](const Inputs& in, double v) { return HuberLoss(in.x, in.y, v); }},
      {"hinge_embedding_loss",
       [](const Inputs& in, double v) { return HingeEmbeddingLoss(in.x, in.signs, v); }},
      {"margin_ranking_loss",
       [](const Inputs& in, double v) { return MarginRankingLoss(in.x, in.y, in.signs, v); }},
      {"poisson_nll_loss eps",
       [](const Inputs& in, double v) { return PoissonNllLoss(Abs(in.x), in.y, false, false, v); }},
      {"cosine_similarity eps",
       [](const Inputs& in, double v) { return CosineSimilarity(in.x, in.y, 1, 5 * v); }},
      {"cosine_embedding_loss",
       [](const Inputs& in, double v) {
         return CosineEmbeddingLoss(in.x, in.y, in.signs.Select(1, 0), v - 1);
       }},
      {"gaussian_nll_loss eps",
       [](const Inputs& in, double v) { return GaussianNllLoss(in.x, in.y, Abs(in.y), false, v); }},
      {"multi_margin_loss",
       [](const Inputs& in, double v) { return MultiMarginLoss(in.x, in.classes, 1, v); }},
      {"triplet_margin_loss margin",
       [](const Inputs& in, double v) { return TripletMarginLoss(in.x, in.y, -in.y, {.margin = v}); }},
      {"triplet_margin_loss p",
       [](const Inputs& in, double v) { return TripletMarginLoss(in.x, in.y, -in.y, {.p = v}); }},
      {"cross_entropy label_smoothing",
       [](const Inputs& in, double v) { return CrossEntropy(in.x, in.classes, {}, -100, v / 2); }},
      {"cross_entropy ignore_index",
       [](const Inputs& in, double v) { return CrossEntropy(in.x, in.classes, {}, Whole(2 * v)); }},
  });
}

TEST_F(Settings, OfFactories) {
  const TensorOptions options = {.type = kF32, .device = device()};
  Check({
      {"hamming_window", [=](const Inputs&, double v) { return HammingWindow(6, true, v, v / 2, options); }},
      {"kaiser_window", [=](const Inputs&, double v) { return KaiserWindow(6, true, v, options); }},
      {"linspace", [=](const Inputs&, double v) { return Linspace(v, 3 * v, 5, options); }},
      {"logspace", [=](const Inputs&, double v) { return Logspace(0, 3, 4, v, options); }},
      {"arange", [=](const Inputs&, double v) { return Arange(v, 5.5 * v, v, options); }},
      {"full", [=](const Inputs&, double v) { return Full({3}, v, options); }},
      {"fftfreq", [=](const Inputs&, double v) { return fft::Fftfreq(5, v, options); }},
  });
}

// Returns x after three steps, each with the gradient of the sum of x^2 y.
Tensor Stepped(const Inputs& in,
               const std::function<std::unique_ptr<ParameterOptimizer>(std::vector<Tensor>)>& make) {
  Tensor x = in.x.Clone();
  x.RequiresGrad_();
  const std::unique_ptr<ParameterOptimizer> optimizer = make({x});
  for (int i = 0; i < 3; ++i) {
    optimizer->ZeroGrad();
    Sum(x * x * in.y).Backward();
    optimizer->Step();
  }
  return x.Detach();
}
template <typename Optimizer, typename Options>
SettingCall Steps(Options (*options)(double)) {
  return [options](const Inputs& in, double v) {
    return Stepped(in, [&](std::vector<Tensor> parameters) {
      return std::make_unique<Optimizer>(std::move(parameters), options(v));
    });
  };
}

TEST_F(Settings, OfOptimizers) {
  Check({
      {"sgd lr", Steps<Sgd, SgdOptions>([](double v) { return SgdOptions{.lr = v / 4}; })},
      {"sgd momentum",
       Steps<Sgd, SgdOptions>([](double v) { return SgdOptions{.lr = 0.1, .momentum = v / 2}; })},
      {"adam lr", Steps<Adam, AdamOptions>([](double v) { return AdamOptions{.lr = v / 4}; })},
      {"adam betas", Steps<Adam, AdamOptions>(
                         [](double v) { return AdamOptions{.lr = 0.1, .beta1 = v / 2, .beta2 = v / 3}; })},
      {"adam eps", Steps<Adam, AdamOptions>([](double v) { return AdamOptions{.lr = 0.1, .eps = v}; })},
      {"adamw weight_decay",
       Steps<AdamW, AdamWOptions>([](double v) { return AdamWOptions{.lr = 0.1, .weight_decay = v}; })},
      {"rmsprop alpha",
       Steps<RmsProp, RmsPropOptions>([](double v) { return RmsPropOptions{.lr = 0.1, .alpha = v / 2}; })},
  });
}

// Random numbers are within bounds, or about means, that vary.
TEST_F(Settings, OfRandomNumbers) {
  constexpr int64_t kCount = 4096;
  const TensorOptions options = {.type = kF32, .device = device()};
  const Tensor zeros = Zeros({kCount}, options), key = random::Key(1, device());
  struct Case {
    const char* name;
    std::function<Tensor(double)> call;
    std::function<bool(double value, double drawn)> fits;
    // The mean and the standard deviation where bounds do not tell the value.
    std::function<std::pair<double, double>(double value)> moments = nullptr;
  };
  const auto from_v_to_2v = [](double v, double drawn) { return v - 1e-6 <= drawn && drawn <= 2 * v; };
  const auto positive = [](double, double drawn) { return drawn >= 0; };
  const Case cases[] = {
      {"uniform", [&](double v) { return Uniform({kCount}, v, 2 * v, options); }, from_v_to_2v},
      {"truncated_normal", [&](double v) { return TruncatedNormal({kCount}, v, 2 * v, options); },
       from_v_to_2v},
      {"randint", [&](double v) { return Randint(Whole(10 * v), Whole(20 * v), {kCount}, options) / 10; },
       from_v_to_2v},
      {"uniform of a key", [&](double v) { return random::Uniform(key, {kCount}, v, 2 * v); }, from_v_to_2v},
      {"truncated_normal of a key",
       [&](double v) { return random::TruncatedNormal(key, {kCount}, v, 2 * v); }, from_v_to_2v},
      {"normal", [&](double v) { return Normal(v, 0, {kCount}, options); },
       [](double v, double drawn) { return std::abs(v - drawn) < 1e-6; }},
      {"exponential", [&](double v) { return Exponential({kCount}, v, options); }, positive,
       [](double v) { return std::pair(1 / v, 1 / v); }},
      {"bernoulli", [&](double v) { return Bernoulli(zeros, v / 2); },
       [](double, double drawn) { return drawn == 0 || drawn == 1; },
       [](double v) { return std::pair(v / 2, std::sqrt(v / 2 * (1 - v / 2))); }},
      {"gumbel_softmax", [&](double v) { return GumbelSoftmax(zeros, v); }, positive},
      {"rrelu", [&](double v) { return -Rrelu(zeros - 1, v, 2 * v, true); }, from_v_to_2v},
      {"dropout", [&](double v) { return Dropout(zeros + 1, v / 2); },
       [](double v, double drawn) { return drawn == 0 || std::abs(drawn - 1 / (1 - v / 2)) < 1e-4; }},
  };
  for (const Case& each : cases) {
    int64_t compiled_twice = 0;
    for (const double v : {0.3, 0.7, 1.1, 1.9}) {
      const std::vector<float> all = each.call(v).ToVector<float>();
      for (const float drawn : all)
        EXPECT_TRUE(each.fits(v, drawn)) << each.name << " of " << v << ": " << drawn;
      if (each.moments != nullptr) {
        const auto [mean, deviation] = each.moments(v);
        EXPECT_NEAR(std::accumulate(all.begin(), all.end(), 0.0) / kCount, mean,
                    5 * deviation / std::sqrt(kCount))
            << each.name << " of " << v;
      }
      if (v == 0.7) compiled_twice = GetTraceStats().compiles;
    }
    EXPECT_EQ(GetTraceStats().compiles, compiled_twice) << each.name;
  }
}

// A roll that is the same in every trace is two slices, which the program knows: a cross product rolls by one
// and by two on the same line.
TEST_F(Settings, ShiftsThatStayAreNoNumbers) {
  const Tensor x = OnDevice({1, 2, 3, 4, 5, 6}, {2, 3}), y = OnDevice({1, 0, 2, 2, 1, 0}, {2, 3});
  for (int i = 0; i < 3; ++i) {
    // (2*2 - 3*0, 3*1 - 1*2, 1*0 - 2*1) and (5*0 - 6*1, 6*2 - 4*0, 4*1 - 5*2).
    EXPECT_THAT(linalg::Cross(x, y).ToVector<float>(), ElementsAre(4, 1, -2, -6, 12, -6));
  }
  EXPECT_EQ(GetTraceStats().compiles, 1);
}

}  // namespace
}  // namespace hlod
