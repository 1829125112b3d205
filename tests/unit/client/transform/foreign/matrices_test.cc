// Derivatives of linear algebra, and of functions along a dimension, in programs that JAX exported for the
// CPU, where its LAPACK routines are custom calls. The expected values are JAX's gradients, directional
// derivatives and gradients of the gradients, in f64 (generate.py records them), also over a batch.
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Json = nlohmann::json;
using Arrays = std::vector<Tensor>;

const Json& RecordedMatrices() {
  static const auto* const recorded = [] {
    std::ifstream file(SourceDir() / "tests/unit/client/transform/foreign/matrices.json");
    return new Json(Json::parse(file));
  }();
  return *recorded;
}

double RecordedNumber(const Json& json) {
  return json.is_string() ? std::stod(json.get<std::string>()) : json.get<double>();
}
std::vector<double> ValuesOf(const Json& array) {
  std::vector<double> values;
  for (const Json& value : array["values"]) values.push_back(RecordedNumber(value));
  return values;
}
// Expects a number near another one, or the same infinity, or NaN.
void ExpectClose(double value, double wanted, double tolerance, const std::string& what) {
  if (std::isnan(wanted)) EXPECT_TRUE(std::isnan(value)) << what << " is " << value;
  else if (std::isinf(wanted)) EXPECT_EQ(value, wanted) << what;
  else EXPECT_NEAR(value, wanted, tolerance * (1 + std::abs(wanted))) << what;
}

// Returns cos(0), cos(1), ..., the weights of generate.py.
Tensor Weights(const Tensor& like) {
  return Cos(Arange(0, like.numel(), 1, {.type = kF64, .device = like.device()})).Reshape(like.dims());
}

class ForeignMatrices : public TensorTest, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    TensorTest::SetUp();
    recorded_ = &RecordedMatrices().at(GetParam());
    f_.emplace(LoadFunctionFromBytes(recorded_->at("program").get<std::string>()));
    for (const Json& argument : recorded_->at("arguments")) {
      const auto dims = argument["dims"].get<std::vector<int64_t>>();
      arguments_.push_back(FromValues<double>(ValuesOf(argument), Dims(dims.begin(), dims.end()), device()));
    }
  }
  std::function<Tensor(const Arrays&)> f() const {
    return [this](const Arrays& x) { return (*f_)(x)[0]; };
  }
  void ExpectAll(const Arrays& arrays, const char* what, double tolerance) const {
    for (size_t i = 0; i < arrays.size(); ++i) {
      const std::vector<double> values = arrays[i].ToVector<double>(),
                                wanted = ValuesOf(recorded_->at(what)[i]);
      ASSERT_EQ(values.size(), wanted.size());
      for (size_t k = 0; k < wanted.size(); ++k) {
        ExpectClose(values[k], wanted[k], tolerance, absl::StrCat(what, " ", i, ", element ", k));
      }
    }
  }

  const Json* recorded_ = nullptr;
  std::optional<LoadedFunction> f_;
  Arrays arguments_;
};

TEST_P(ForeignMatrices, ReverseMode) {
  ExpectClose(f()(arguments_).Item<double>(), RecordedNumber(recorded_->at("value")), 1e-10, "value");
  ExpectAll(Grad(f())(arguments_), "gradients", 1e-9);
}

TEST_P(ForeignMatrices, ForwardMode) {
  Arrays tangents;
  for (const Tensor& x : arguments_) tangents.push_back(Weights(x));
  const auto [value, derivative] = Jvp(f(), std::tuple(arguments_), std::tuple(tangents));
  ExpectClose(derivative.Item<double>(), RecordedNumber(recorded_->at("directional")), 1e-9, "directional");
}

TEST_P(ForeignMatrices, SecondDerivative) {
  if (!recorded_->contains("second")) GTEST_SKIP() << "JAX has none";
  const auto weighted = [gradient = Grad(f())](const Arrays& x) {
    Tensor sum;
    for (const Tensor& each : gradient(x)) {
      const Tensor one = Sum(each * Weights(each));
      sum = sum.defined() ? sum + one : one;
    }
    return sum;
  };
  ExpectAll(Grad(weighted)(arguments_), "second", 1e-7);
}

TEST_P(ForeignMatrices, OverABatch) {
  Arrays batch;
  for (const Tensor& x : arguments_) batch.push_back(Stack({x, x}));
  Arrays last;
  for (const Tensor& gradient : Vmap(Grad(f()))(batch)) last.push_back(gradient[1]);
  ExpectAll(last, "gradients", 1e-9);
}

std::vector<std::string> MatrixNames() {
  std::vector<std::string> names;
  for (const auto& [name, recorded] : RecordedMatrices().items()) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, ForeignMatrices, ::testing::ValuesIn(MatrixNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hlod
