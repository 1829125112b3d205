// Derivatives of scalar functions in programs that JAX exported, compared with JAX's in f64: forward and
// reverse mode, the second derivative, and over a batch; in f64, f32 and bf16 (generate.py records
// them).
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Json = nlohmann::json;

const Json& Recorded() {
  static const auto* const recorded = [] {
    std::ifstream file(SourceDir() / "tests/unit/client/transform/foreign/functions.json");
    return new Json(Json::parse(file));
  }();
  return *recorded;
}

double NumberOf(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.get<std::string>();
  if (text == "nan") return std::nan("");
  return text == "inf" ? HUGE_VAL : -HUGE_VAL;
}
std::vector<double> NumbersOf(const Json& json) {
  std::vector<double> numbers;
  for (const Json& number : json) numbers.push_back(NumberOf(number));
  return numbers;
}

class ForeignFunctions : public TensorTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    TensorTest::SetUp();
    recorded_ = &Recorded().at(GetParam());
    f_.emplace(LoadFunctionFromBytes(recorded_->at("program").get<std::string>()));
    type_ = recorded_->at("type").get<std::string>() == "f64"   ? kF64
            : recorded_->at("type").get<std::string>() == "f32" ? kF32
                                                                : kBF16;
    const std::vector<double> points = NumbersOf(recorded_->at("x"));
    x_ = FromValues<double>(points, Dims{static_cast<int64_t>(points.size())}, device()).To(type_);
  }
  Tensor f(const Tensor& x) const { return (*f_)({x})[0]; }
  // Returns the derivative at each element, by reverse mode.
  Tensor Slope(const Tensor& x) const {
    return Grad([this](const Tensor& x) { return Sum(f(x)); })(x);
  }
  void Expect(const Tensor& tensor, const char* what) const {
    const double lost = recorded_->at("lost").get<double>();
    ASSERT_EQ(tensor.dtype(), type_);
    const double eps = type_ == kF64 ? 0x1p-52 : type_ == kF32 ? 0x1p-23 : 0x1p-8;
    const std::vector<double> values = tensor.To(kF64).ToVector<double>(),
                              wanted = NumbersOf(recorded_->at(what)), at = NumbersOf(recorded_->at("x"));
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double value = values[i], want = wanted[i];
      if (std::isnan(want)) EXPECT_TRUE(std::isnan(value)) << what << " at " << at[i] << " is " << value;
      else if (std::isinf(want)) EXPECT_EQ(value, want) << what << " at " << at[i];
      else EXPECT_NEAR(value, want, lost * eps * (0.1 + std::abs(want))) << what << " at " << at[i];
    }
  }

  const Json* recorded_ = nullptr;
  std::optional<LoadedFunction> f_;
  PrimitiveType type_ = kF64;
  Tensor x_;
};

TEST_P(ForeignFunctions, Value) { Expect(f(x_), "value"); }

TEST_P(ForeignFunctions, ForwardMode) {
  const auto [value, slope] =
      Jvp([this](const Tensor& x) { return f(x); }, std::tuple(x_), std::tuple(OnesLike(x_)));
  Expect(slope, "first");
}

TEST_P(ForeignFunctions, ReverseMode) { Expect(Slope(x_), "first"); }

TEST_P(ForeignFunctions, SecondDerivative) {
  if (!recorded_->contains("second")) GTEST_SKIP() << "JAX has none";
  Expect(Grad([this](const Tensor& x) { return Sum(Slope(x)); })(x_), "second");
}

TEST_P(ForeignFunctions, ThirdDerivative) {
  if (!recorded_->contains("third")) GTEST_SKIP() << "not recorded";
  const auto curve = [this](const Tensor& x) {
    return Grad([this](const Tensor& x) { return Sum(Slope(x)); })(x);
  };
  Expect(Grad([&](const Tensor& x) { return Sum(curve(x)); })(x_), "third");
}

TEST_P(ForeignFunctions, OverABatch) {
  const Tensor both = Vmap([this](const Tensor& x) { return Slope(x); })(Stack({x_, x_}));
  Expect(both[1], "first");
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names;
  for (const auto& [name, recorded] : Recorded().items()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, ForeignFunctions, ::testing::ValuesIn(FunctionNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hlod
