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
