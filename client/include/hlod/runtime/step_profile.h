// The time of each step of a program's run on the daemon (Executable::Profile).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hlod {

// One step of the plan that a daemon made of a program.
struct StepProfile {
  int64_t index = 0;  // The step's position in the plan.
  // "assembled": a loop over elements that is machine code of its own. "interpreted": such a loop whose
  // program is interpreted tile by tile, as all are at first. "withdrawn": such a loop whose machine code was
  // slower in several runs, so that it is interpreted again. "library": dots, convolutions, sorts,
  // transforms, factorizations, reductions and windows. "movement": moves data and computes nothing.
  // "reference": run by the evaluator, slowly. "copy": a value that a loop, a branch or the end of the
  // program copies.
  std::string kind;
  std::string text;                // The computation: "dot f32[8,4] <- f32[8,2], f32[2,4]".
  std::string type;                // The element type that it computes in: "f32". Empty for a copy.
  std::vector<std::string> lines;  // The first lines of the program that it comes from: "model.py:12".
  int64_t runs = 0;                // The number of runs: a step in a loop runs once per iteration.
  int64_t ns = 0;                  // The time of all its runs, with about 30 ns for the clock in each.
  double bytes = 0;                // The least bytes that one run reads and writes.
  double flops = 0;  // Operations of one run: a multiply-add counts twice, a function of an element once.
};

// The speed of the device's threads together, measured.
struct MachineSpeed {
  int threads = 0;
  std::string cpu_level;  // The instruction set: "avx2".
  double f32_flops = 0;   // The f32 operations per second of multiply-adds in registers.
  // The rates of copies of several sizes, ascending. `bytes` is the size of source and destination together,
  // and the rate counts the bytes that are read and those that are written.
  struct Copy {
    int64_t bytes = 0;
    double bytes_per_second = 0;
  };
  std::vector<Copy> copies;
};

// The profile of a run; of a program of several participants, that of the first one.
struct ExecuteProfile {
  // In the order of the plan: the longest, when there are more than 1,000.
  std::vector<StepProfile> steps;
  int64_t other_steps = 0, other_ns = 0;  // The steps that are not listed, and their time.
  int64_t run_ns = 0;                     // The time of the run.
  std::optional<MachineSpeed> machine;
};

// Returns the shortest time in which the machine could run the step once, in seconds: that of its operations
// or that of its bytes, whichever is longer (the roofline). The rate of the bytes is that of a copy of as
// many. Types other than f32 and f64 are compared with f32, so a processor that multiplies bf16 faster may
// need less.
double LeastSeconds(const StepProfile& step, const MachineSpeed& machine);

}  // namespace hlod
