// The modules that JAX lowered, for tests of properties that hold for any program, and arguments for them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "tests/support/source_dir.h"

namespace hlod::passes {

// Calls f(module) for each case of the conformance tests.
template <typename F>
void ForEachJaxModule(F f) {
  for (const auto& entry : std::filesystem::directory_iterator(CasesDir("jax"))) {
    std::ifstream file(entry.path() / "module.pb", std::ios::binary);
    if (!file) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    auto module = hlo::FromSerialized(bytes);
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE(hlo::Verify(**module).ok()) << hlo::Verify(**module);
    f(**module);
  }
}

// Returns arguments of small values, the same each time.
inline std::vector<hlo::Literal> RandomArguments(const hlo::Module& module) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0, 3);
  std::vector<hlo::Literal> arguments;
  for (const hlo::Shape& shape : module.entry().program_shape().parameters) {
    hlo::Literal doubles(hlo::Shape::Array(hlo::kF64, shape.dims));
    for (double& x : doubles.data<double>()) x = uniform(random);
    arguments.push_back(Convert(doubles, shape.type).value());
  }
  return arguments;
}

inline std::vector<const hlo::Literal*> Pointers(const std::vector<hlo::Literal>& literals) {
  std::vector<const hlo::Literal*> pointers;
  for (const hlo::Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

// Expects equal values; NaN equals NaN, and -0 equals 0.
inline void ExpectSame(const hlo::Literal& got, const hlo::Literal& want) {
  ASSERT_EQ(got.shape(), want.shape());
  for (int64_t e = 0; e < got.element_count(); ++e) {
    const double a = ElementAsDouble(got, e), b = ElementAsDouble(want, e);
    ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
        << "element " << e << ": " << a << " is not " << b;
  }
}

}  // namespace hlod::passes
