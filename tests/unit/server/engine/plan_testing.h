// Helpers of the engine's tests: they run a plan on literals in guarded memory, and compare with the
// evaluator.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"
#include "server/engine/plan/plan.h"

namespace hlod::engine {

// Runs `plan` on flat arguments (one literal per array leaf) and returns the flat results. Temporary memory
// is guarded, and filled with garbage first. The test fails when a guard was overwritten, or when an argument
// changed that does not share memory with a result.
absl::StatusOr<std::vector<hlo::Literal>> RunPlan(const Plan& plan, absl::Span<const hlo::Literal> arguments,
                                                  RunContext& context);
absl::StatusOr<std::vector<hlo::Literal>> RunPlan(const Plan& plan, absl::Span<const hlo::Literal> arguments);

// Returns the evaluator's flat results for the same flat arguments.
absl::StatusOr<std::vector<hlo::Literal>> RunEvaluator(const hlo::Module& module,
                                                       absl::Span<const hlo::Literal> arguments);

// Compares two arrays of one shape. Returns empty when each element is within atol + rtol * |expected| (NaN
// equals NaN; integers and preds exactly), else a sentence about the worst element.
std::string Difference(const hlo::Literal& actual, const hlo::Literal& expected, double rtol, double atol);

// Returns deterministic values of any type, different for each seed, of various magnitudes and never NaN.
hlo::Literal Sample(const hlo::Shape& shape, uint32_t seed);

// Compiles `module` twice (with kernels, and reference_only), runs both on samples of its parameters, and
// expects the evaluator's results. Returns the plan with kernels, or null after a failure.
std::unique_ptr<Plan> ExpectAgreesWithEvaluator(const hlo::Module& module, double rtol = 1e-5,
                                                double atol = 1e-5, uint32_t seed = 0);

}  // namespace hlod::engine
