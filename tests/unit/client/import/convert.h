// Converts StableHLO text to HLO for tests, and runs it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/import.h"
#include "common/base/errors/error.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/text/text.h"

namespace hlod::stablehlo {

inline absl::StatusOr<std::unique_ptr<hlo::Module>> Converted(const std::string& text,
                                                              const ArgumentSizes& sizes = {}) {
  absl::StatusOr<Program> program = ParseText(text);
  if (!program.ok()) return program.status();
  return ToHlo(*program, {.sizes = sizes});
}

// Returns the program's result for these arguments. Fails the test and returns an empty literal on an error.
inline hlo::Literal RunText(const std::string& text, const std::vector<hlo::Literal>& arguments,
                            const ArgumentSizes& sizes = {}) {
  const auto module = Converted(text, sizes);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  std::vector<const hlo::Literal*> pointers;
  for (const hlo::Literal& argument : arguments) pointers.push_back(&argument);
  absl::StatusOr<hlo::Literal> result = Evaluate(**module, pointers);
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << ToText(**module);
  return result.ok() ? *std::move(result) : hlo::Literal();
}

template <typename T>
std::vector<T> Elements(const hlo::Literal& literal) {
  return {literal.data<T>().begin(), literal.data<T>().end()};
}

inline std::string ErrorText(const std::string& text, const ArgumentSizes& sizes = {}) {
  const auto module = Converted(text, sizes);
  if (module.ok()) return "no error";
  EXPECT_NE(KindOf(module.status()), ErrorKind::kNone);
  return ErrorOf(module.status()).text;
}

// Returns a function from f32[2] to f32[2] whose body is `body` and returns %r.
inline std::string InMain(const std::string& body) {
  return "func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n" + body +
         "\n  return %r : tensor<2xf32>\n}\n";
}

inline const hlo::Literal kX = hlo::Literal::Vector<float>({3, -5});

}  // namespace hlod::stablehlo
