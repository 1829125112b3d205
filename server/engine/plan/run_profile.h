// The profile of a run: the time, the work and the source of each step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/engine/plan/assignment/buffer_assignment.h"
#include "server/engine/plan/lowering/lowering.h"
#include "server/engine/run/code.h"
#include "server/engine/run/step_times.h"

namespace hlod::engine {

// One step of a run.
struct StepProfile {
  int64_t index = 0;  // The position in the plan, as Plan::Dump prints it.
  std::string kind;   // One of kStepKinds.
  std::string text;                // The computation, at most kStepTextMax bytes.
  std::string type;                // The element type that it computes in: "f32". Empty for copies.
  std::vector<std::string> lines;  // "model.py:12", at most Op::kLinesMax.
  int64_t runs = 0, ns = 0;
  double bytes = 0, flops = 0;  // The least traffic and the operations of one run.
};

struct RunProfile {
  // The longest steps, in the order of the plan.
  std::vector<StepProfile> steps;
  int64_t other_steps = 0, other_ns = 0;  // The steps that are not listed, and their time.
  int64_t ns = 0;                         // The whole run.
};

inline constexpr size_t kProfileStepsMax = 1000;
inline constexpr size_t kStepTextMax = 256;

// Returns the bound on the memory of the times and the profile of a run of `code`.
int64_t ProfileBytesMax(const Code& code);

// Returns the profile of a run of the program, whose code took `times`.
RunProfile MakeRunProfile(const FlatProgram& program, const Assignment& assignment, const Code& code,
                          const StepTimes& times);

}  // namespace hlod::engine
