// Random numbers from explicit keys equal those of jax.random (random_key/generate.py): keys, bits and
// integers exactly, floats within the rounding of their functions.
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using nlohmann::json;

class RandomKeys : public TensorTest {
 protected:
  void ForEachSeed(const std::function<void(const json& expected, const Tensor& key)>& body) {
    const json all =
        json::parse(std::ifstream(SourceDir() / "tests/unit/client/tensor/random_key/expected.json"));
    for (const Device& at : {Device(), device()}) {
      for (const json& expected : all) {
        SCOPED_TRACE(at.ToString() + ", seed " + expected.at("seed").dump());
        body(expected, random::Key(expected.at("seed").get<uint64_t>(), at));
      }
    }
  }
  template <typename T>
  static void ExpectSame(const Tensor& x, const json& expected) {
    EXPECT_EQ(x.ToVector<T>(), expected.get<std::vector<T>>());
  }
  static void ExpectNear(const Tensor& x, const json& expected, double tolerance) {
    const std::vector<double> values = x.To(kF64).ToVector<double>();
    ASSERT_EQ(values.size(), expected.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const double wanted = expected[i];
      EXPECT_NEAR(values[i], wanted, tolerance * std::max(1.0, std::abs(wanted))) << i;
    }
  }
  static std::vector<std::string> Texts(const Tensor& x) {
    std::vector<std::string> texts;
    for (const uint64_t value : x.To(kU64).ToVector<uint64_t>()) texts.push_back(std::to_string(value));
    return texts;
  }
};

TEST_F(RandomKeys, KeysAndBitsAreJaxs) {
  ForEachSeed([](const json& expected, const Tensor& key) {
    ExpectSame<uint32_t>(key, expected.at("key"));
    const Tensor split = random::Split(key, 3);
    for (int64_t i = 0; i < 3; ++i) ExpectSame<uint32_t>(split[i].Contiguous(), expected.at("split")[i]);
    for (const auto& [number, wanted] : expected.at("fold_in").items()) {
      ExpectSame<uint32_t>(random::FoldIn(key, static_cast<int64_t>(std::stoll(number))), wanted);
    }
    const std::pair<const char*, PrimitiveType> types[] = {
        {"8", kU8}, {"16", kU16}, {"32", kU32}, {"64", kU64}};
    for (const auto& [name, type] : types) {
      EXPECT_EQ(Texts(random::Bits(key, {2, 3}, type)),
                expected.at("bits").at(name).get<std::vector<std::string>>());
    }
    ExpectSame<uint32_t>(random::Bits(key, {7}), expected.at("odd_bits"));
  });
}

// Rejection loops draw as JAX's do, so that every number is JAX's within rounding.
TEST_F(RandomKeys, DistributionsOfParametersAreJaxs) {
  ForEachSeed([](const json& expected, const Tensor& key) {
    const Tensor a = FromValues<double>({0.01, 0.3, 1, 2.5, 40, 1000}, Dims{2, 3}, key.device());
    const std::pair<const char*, PrimitiveType> types[] = {{"", kF32}, {"64", kF64}};
    for (const auto& [suffix, type] : types) {
      const auto wanted = [&](const char* name) { return expected.at(std::string(name) + suffix); };
      const double tolerance = type == kF64 ? 1e-12 : 2e-5;
      const Tensor x = a.To(type);
      ExpectNear(random::Gamma(key, x, {}, type), wanted("gamma"), tolerance);
      ExpectNear(random::Gamma(key, 0.7, Dims{9}, type), wanted("gammas"), tolerance);
      ExpectNear(random::LogGamma(key, x, {}, type), wanted("loggamma"), tolerance);
      ExpectNear(random::Beta(key, x, 2, {}, type), wanted("beta"), tolerance);
      ExpectNear(random::Dirichlet(key, x.Slice(1, 0, 2), Dims{3, 2}, type), wanted("dirichlet"), tolerance);
    }
    const Tensor rates = FromValues<float>({0, 0.4F, 3, 9.5F, 10, 35, 2000, 1e6F}, Dims{8}, key.device());
    ExpectSame<int32_t>(random::Poisson(key, rates), expected.at("poisson"));
    ExpectSame<int64_t>(random::Poisson(key, 7, Dims{20}, kS64), expected.at("poissons"));
  });
}

TEST_F(RandomKeys, PermutationsAndChoicesAreJaxs) {
  ForEachSeed([](const json& expected, const Tensor& key) {
    ExpectSame<int64_t>(random::Permutation(key, 2000), expected.at("permutation"));
    ExpectSame<int64_t>(random::Permutation(key, 1), expected.at("permutation_of_one"));
    const Tensor x = Arange(0, 24, 1, {.type = kF32, .device = key.device()}).Reshape({4, 6});
    ExpectSame<float>(random::Permutation(key, x, 1), expected.at("permuted"));
    ExpectSame<float>(random::Permutation(key, x, 0, true), expected.at("permuted_independently"));
    const Tensor p = FromValues<float>({0.1F, 0, 0.4F, 0.2F, 0.3F}, Dims{5}, key.device());
    ExpectSame<int64_t>(random::Choice(key, 10, {3, 4}), expected.at("choice"));
    ExpectSame<int64_t>(random::Choice(key, 10, {2, 3}, {.replace = false}), expected.at("choice_without"));
    ExpectSame<int64_t>(random::Choice(key, 5, {12}, {.p = p}), expected.at("choice_by_p"));
    ExpectSame<int64_t>(random::Choice(key, 5, {4}, {.replace = false, .p = p}),
                        expected.at("choice_by_p_without"));
    ExpectSame<float>(random::Choice(key, x, {2, 2}, {.dim = 1}), expected.at("choice_of_rows"));
    ExpectSame<float>(random::Choice(key, x, {3}, {.replace = false}), expected.at("choice_of_rows_without"));
  });
}

TEST_F(RandomKeys, DistributionsTakeTheirEdges) {
  const Tensor key = random::Key(3, device());
  const double infinite = std::numeric_limits<double>::infinity();
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(
      random::Poisson(key, FromValues<double>({infinite, unknown, 0}, Dims{3}, device())).ToVector<int32_t>(),
      ElementsAre(-1, -1, 0));
  EXPECT_THAT(random::Gamma(key, FromValues<double>({-3, unknown}, Dims{2}, device())).ToVector<float>(),
              ::testing::Each(::testing::IsNan()));
  EXPECT_EQ(random::Choice(key, 3, {0}).dims(), Dims{0});
  Throws([&] { random::Choice(key, 2, {3}, {.replace = false}); });
  EXPECT_THAT(last_what_, HasSubstr("3 elements cannot be taken from 2 without putting them back"));
  Throws([&] { random::Choice(key, Ones({4}, {.device = device()}), {-1}, {.replace = false}); });
  EXPECT_THAT(last_what_, HasSubstr("-1"));
  Throws([&] { random::Choice(key, 0, {3}); });
  EXPECT_THAT(last_what_, HasSubstr("random.choice"));
  EXPECT_THAT(last_what_, HasSubstr("there is nothing to choose from"));
  Throws([&] { random::Choice(key, 3, {3}, {.p = Ones({2}, {.device = device()})}); });
  EXPECT_THAT(last_what_, HasSubstr("p has the shape [2]; it has a probability for each of 3"));
  Throws([&] { random::Gamma(key, Ones({2}, {.device = device()}), Dims{3}); });
  EXPECT_THAT(last_what_, HasSubstr("shapes [2] and [3] do not broadcast"));
}

TEST_F(RandomKeys, NumbersAreJaxs) {
  ForEachSeed([](const json& expected, const Tensor& key) {
    ExpectNear(random::Uniform(key, {2, 3}), expected.at("uniform"), 0);
    ExpectNear(random::Uniform(key, {5}, -2, 3), expected.at("between"), 3e-7);
    ExpectNear(random::Uniform(key, {5}, -2, 3, kF64), expected.at("uniform64"), 1e-15);
    ExpectNear(random::Normal(key, {2, 4}), expected.at("normal"), 1e-6);
    ExpectNear(random::Normal(key, {4}, kF64), expected.at("normal64"), 1e-13);
    ExpectNear(random::TruncatedNormal(key, {6}, -0.5, 1.5), expected.at("truncated_normal"), 1e-6);
    ExpectNear(random::Exponential(key, {6}), expected.at("exponential"), 1e-6);
    ExpectNear(random::Gumbel(key, {6}), expected.at("gumbel"), 2e-6);
    ExpectSame<int32_t>(random::Randint(key, {8}, -5, 100), expected.at("randint"));
    ExpectSame<int64_t>(random::Randint(key, {8}, -5, 1000000000000, kS64), expected.at("randint64"));
    ExpectNear(random::Bernoulli(key, 0.3, {10}), expected.at("bernoulli"), 0);
    const Tensor logits = Linspace(-1, 2, 12, {.device = key.device()}).Reshape({3, 4});
    ExpectSame<int64_t>(random::Categorical(key, logits), expected.at("categorical"));
  });
}

TEST_F(RandomKeys, AKeyIsAnArgumentOfAFunction) {
  const auto f = [](const Tensor& key) { return random::Normal(random::FoldIn(key, 3), {4}); };
  const auto step = Jit(f);
  for (const int64_t seed : {1, 2}) {
    const Tensor key = random::Key(seed, device());
    EXPECT_EQ(step(key).ToVector<float>(), f(key).ToVector<float>());
  }
}

TEST_F(RandomKeys, WhatIsNoKeyIsRefused) {
  const absl::Status status = Thrown([] { random::Normal(Zeros({2}), {3}); });
  EXPECT_EQ(KindOf(status), ErrorKind::kArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a key is u32[2], as random::Key() makes it, not f32[2]"));
  EXPECT_FALSE(Thrown([] { random::Bits(random::Key(0), {3}, kF32); }).ok());
  EXPECT_FALSE(Thrown([] { random::Uniform(random::Key(0), {3}, 0, 1, kBF16); }).ok());
  EXPECT_FALSE(Thrown([] { random::Randint(random::Key(0), {3}, 5, 5); }).ok());
}

}  // namespace
}  // namespace hlod
