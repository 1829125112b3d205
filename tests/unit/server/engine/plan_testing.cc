// Guards, samples and comparisons.
#include "tests/unit/server/engine/plan_testing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "common/base/errors/status.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "tests/support/held_engine.h"
#include "tests/unit/server/engine/guarded.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using hlo::Shape;

// Builds a literal of `shape` from flat leaves, and advances `leaves` past them.
Literal Nest(const Shape& shape, const Literal*& leaves) {
  if (!shape.IsTuple()) return *leaves++;
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple) elements.push_back(Nest(element, leaves));
  return Literal::MakeTuple(std::move(elements));
}

}  // namespace

absl::StatusOr<std::vector<Literal>> RunPlan(const Plan& plan, absl::Span<const Literal> arguments,
                                             RunContext& context) {
  std::vector<std::unique_ptr<Guarded>> copies, memory;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const Literal& argument : arguments) {
    copies.push_back(std::make_unique<Guarded>(argument.bytes().size()));
    std::ranges::copy(argument.bytes(), copies.back()->data());
    in.push_back(copies.back()->data());
  }
  std::vector<bool> shared(arguments.size(), false);
  for (size_t r = 0; r < plan.results().size(); ++r) {
    const int alias = plan.aliases()[r];
    if (alias >= 0) {
      shared[alias] = true;
      out.push_back(copies[alias]->data());
      continue;
    }
    memory.push_back(std::make_unique<Guarded>(hlo::ByteSize(plan.results()[r]).value()));
    out.push_back(memory.back()->data());
  }
  memory.push_back(std::make_unique<Guarded>(plan.memory().temporary_bytes));
  RETURN_IF_ERROR(plan.Run(in, out, memory.back()->data(), context));
  for (const auto& guarded : memory) EXPECT_TRUE(guarded->Intact()) << "memory was overrun\n" << plan.Dump();
  for (size_t a = 0; a < arguments.size(); ++a) {
    EXPECT_TRUE(copies[a]->Intact()) << "memory around argument " << a << " was written\n" << plan.Dump();
    if (shared[a]) continue;
    EXPECT_TRUE(std::ranges::equal(arguments[a].bytes(),
                                   absl::MakeSpan(copies[a]->data(), arguments[a].bytes().size())))
        << "argument " << a << " was written\n"
        << plan.Dump();
  }
  std::vector<Literal> results;
  for (size_t r = 0; r < out.size(); ++r) {
    Literal& result = results.emplace_back(plan.results()[r]);
    if (!result.bytes().empty()) std::memcpy(result.bytes().data(), out[r], result.bytes().size());
  }
  return results;
}

absl::StatusOr<std::vector<Literal>> RunPlan(const Plan& plan, absl::Span<const Literal> arguments) {
  RunContext context;
  return RunPlan(plan, arguments, context);
}

absl::StatusOr<std::vector<Literal>> RunEvaluator(const hlo::Module& module,
                                                  absl::Span<const Literal> arguments) {
  std::vector<Literal> nested;
  const Literal* leaf = arguments.data();
  for (const Shape& parameter : module.entry().program_shape().parameters)
    nested.push_back(Nest(parameter, leaf));
  std::vector<const Literal*> pointers;
  for (const Literal& literal : nested) pointers.push_back(&literal);
  ASSIGN_OR_RETURN(const Literal result, Evaluate(module, pointers));
  std::vector<Literal> leaves;
  for (const Literal* result_leaf : result.Leaves()) leaves.push_back(*result_leaf);
  return leaves;
}

std::string Difference(const Literal& actual, const Literal& expected, double rtol, double atol) {
  if (!hlo::Compatible(actual.shape(), expected.shape())) {
    return absl::StrFormat("the shape is %s, expected %s", hlo::ToStringNoLayout(actual.shape()),
                           hlo::ToStringNoLayout(expected.shape()));
  }
  if (!actual.shape().IsArray() || actual.bytes() == expected.bytes()) return "";
  if (hlo::IsComplex(actual.shape().type)) {  // A complex array is compared as twice as many real numbers.
    const auto parts = [](const Literal& literal) {
      Shape shape = literal.shape();
      shape.type = hlo::RealType(shape.type);
      shape.dims.push_back(2);
      Literal result(shape);
      std::memcpy(result.bytes().data(), literal.bytes().data(), literal.bytes().size());
      return result;
    };
    return Difference(parts(actual), parts(expected), rtol, atol);
  }
  const bool exact = !hlo::IsFloat(actual.shape().type);
  double worst = 0;
  int64_t worst_index = -1;
  for (int64_t i = 0; i < actual.element_count(); ++i) {
    const double a = ElementAsDouble(actual, i), e = ElementAsDouble(expected, i);
    if ((std::isnan(a) && std::isnan(e)) || a == e) continue;
    const double excess = exact ? 1 : std::abs(a - e) - (atol + rtol * std::abs(e));
    const bool bad = std::isnan(excess) || excess > 0;
    if (bad && (worst_index < 0 || excess > worst)) {
      worst = excess;
      worst_index = i;
    }
  }
  if (worst_index < 0) return "";
  return absl::StrFormat("element %d of %s is %.9g, expected %.9g", worst_index,
                         hlo::ToStringNoLayout(actual.shape()), ElementAsDouble(actual, worst_index),
                         ElementAsDouble(expected, worst_index));
}

Literal Sample(const Shape& shape, uint32_t seed) {
  if (!shape.IsArray()) return Literal(shape);
  Literal numbers(Shape::Array(hlo::kF32, shape.dims));
  uint32_t state = seed * 2654435761u + 12345;
  for (float& number : numbers.data<float>()) {
    state = state * 1664525u + 1013904223u;
    number = static_cast<float>(static_cast<int32_t>(state >> 8) % 2000 - 1000) / 125.0f;
  }
  if (hlo::IsUnsigned(shape.type) || shape.type == hlo::kPred) {
    for (float& number : numbers.data<float>())
      number = std::abs(std::trunc(number)) * (shape.type == hlo::kPred ? 1 : 1);
    if (shape.type == hlo::kPred) {
      for (float& number : numbers.data<float>()) number = std::fmod(number, 2.0f);
    }
  }
  absl::StatusOr<Literal> converted = Convert(numbers, shape.type);
  EXPECT_TRUE(converted.ok()) << converted.status();
  return converted.ok() ? *std::move(converted) : Literal(shape);
}

std::unique_ptr<Plan> ExpectAgreesWithEvaluator(const hlo::Module& module, double rtol, double atol,
                                                uint32_t seed) {
  const int threads = testing::EngineThreads();
  absl::StatusOr<std::unique_ptr<Plan>> plan = Compile(module, {.threads = threads});
  EXPECT_TRUE(plan.ok()) << plan.status() << "\n" << ToText(module);
  absl::StatusOr<std::unique_ptr<Plan>> reference =
      Compile(module, {.threads = threads, .reference_only = true});
  EXPECT_TRUE(reference.ok()) << reference.status();
  if (!plan.ok() || !reference.ok()) return nullptr;
  std::vector<Literal> arguments;
  for (const Shape& shape : (*plan)->arguments()) arguments.push_back(Sample(shape, ++seed));
  const auto expected = RunEvaluator(module, arguments);
  EXPECT_TRUE(expected.ok()) << expected.status();
  if (!expected.ok()) return nullptr;
  const auto compare = [&](const Plan& run, double rtol_max, double atol_max) {
    const auto actual = RunPlan(run, arguments);
    EXPECT_TRUE(actual.ok()) << actual.status();
    if (!actual.ok()) return false;
    EXPECT_EQ(actual->size(), expected->size());
    bool same = actual->size() == expected->size();
    for (size_t r = 0; same && r < actual->size(); ++r) {
      const std::string difference = Difference((*actual)[r], (*expected)[r], rtol_max, atol_max);
      EXPECT_EQ(difference, "") << "result " << r << "\n" << run.Dump() << ToText(module);
      same = difference.empty();
    }
    return same;
  };
  const bool same = compare(**reference, 0, 0) & compare(**plan, rtol, atol);
  return same ? *std::move(plan) : nullptr;
}

}  // namespace hlod::engine
