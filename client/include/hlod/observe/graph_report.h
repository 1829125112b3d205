// What graphs a program ran, what broke them, and what that cost: made from a run's events and the daemon's
// account, and from nothing else.
//
//   hlod::GraphReport report = hlod::ReportGraphs([&] { Step(batch); });
//   std::puts(hlod::ToText(report).c_str());
//
//   HLOD_PROFILE=profile.jsonl ./train && hloctl graphs profile.jsonl
//
// A *break* is where the program needed a value before it had recorded its step: what it had recorded until
// then ran as a graph, and the rest became another one. The end of a step, Sync(), ends a graph and is not a
// break. Breaks have two stages. "trace": the program's own line asked for a value. "lowering": what was
// recorded could not become one program: a HostFunction(), a shape that depends on values, a trace too long.
//
// COSTS of a break, of all its times together. Bytes each way: what crossed at its line before the next graph
// ran. Held: results of the graph that the next one took, at the most. Fusion lost: what the next graph read
// of the results and arguments of this one, and what this one wrote for it alone: one graph would have kept
// them to itself. Times, by phase: trace, lower and compile of this side; compile, queue and execute of the
// daemon; wait of the program at the line.
//
// WHAT A BREAK'S REMOVAL SAVES is computed by going through the run twice: with every wait where it was, and
// with the break's graph and the next one as one, its wait, transfers and host function gone. The program's
// time between its graphs is taken as it was; the device runs one graph at a time. So it is the gain in the
// program's time for this run, and not a sum of parts: what is waited for at one break can be waited for at
// the next.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hlod/observe/account.h"
#include "hlod/observe/profile.h"
#include "hlod/tensor/trace.h"

namespace hlod {

// Microseconds by phase, summed.
struct PhaseTimes {
  double trace_us = 0;    // Recording operations.
  double lower_us = 0;    // Finding the program, or making it.
  double compile_us = 0;  // Serialising and sending it, and the daemon's compile.
  double queue_us = 0;    // In the daemon, with all arguments there.
  double execute_us = 0;
  double wait_us = 0;  // The program, for the daemon.
};

// One program that ran, from one line for one cause.
struct GraphRow {
  std::string program;  // SHA-256, hexadecimal.
  std::string name;
  std::string cause;  // What ended the trace: Name(TraceCause), or "phase"; "execute": the program ran it.
  Origin origin;      // Where.
  int64_t nodes = 0, inputs = 0, outputs = 0;
  int64_t compiles = 0, cache_hits = 0, executes = 0;  // cache_hits: found in this process.
  Distribution compile;                                // Of the daemon.
  int64_t compiles_timed = 0;                          // How many `compile` is of.
  Distribution queue, execute;
  int64_t executes_timed = 0;
  int64_t host_to_device_bytes = 0;  // Uploaded since the graph before.
  int64_t device_to_host_bytes = 0;  // Of its results.
  int64_t number_bytes = 0;          // Of numbers inside its executes: the account has them beside transfers.
};

enum class BreakStage : uint8_t { kTrace, kLowering };
std::string_view Name(BreakStage stage);
BreakStage StageOf(TraceCause cause);
// What to do about it, in a sentence.
std::string_view Remedy(TraceCause cause);

struct BreakRow {
  BreakStage stage = BreakStage::kTrace;
  TraceCause cause{};
  std::string operation;  // "item", "print", or the host function's name.
  Origin origin;
  std::string value;  // What was asked for: "f32[8] made at model.cc:5"
  int64_t times = 0;
  int64_t host_to_device_bytes = 0, device_to_host_bytes = 0;
  int64_t host_to_device_calls = 0, device_to_host_calls = 0;
  int64_t held_bytes = 0;
  int64_t fusion_lost_bytes = 0;
  PhaseTimes times_us;  // Of the graphs that it ended, and of waiting there.
  // What its removal saves, beside the transfers: of the report's graphs and executes, and of its time.
  int64_t saves_graphs = 0, saves_executes = 0;
  double saves_us = 0;
};

// A program that was compiled where another one had been: by a line that had compiled one already, or the
// same program once more.
struct RecompileRow {
  CompileReason reason = CompileReason::kUnsaid;
  std::string why, program, nearest;  // Names of programs.
  Origin origin;
  uint64_t step = 0;
  double compile_us = 0;  // What it cost, on both sides.
};

// Something that took a path more than ten times slower than the normal one.
struct SlowRow {
  std::string path;  // "slow_step": of a program in the daemon; else Name(SlowPath).
  std::string what;  // "sort (model.cc:12): its comparator is not an order of keys", "matmul on host tensors"
  std::string line;  // "model.cc:12", as far as it is known.
  std::string program;  // The module's name; empty for what this process did.
  int64_t times = 0;    // Executes of the program, or times that it was taken.
  double us = 0;  // Of those executes together: the step's part of them is not known. Else its own time.
  std::string remedy;
};

struct GraphReport {
  std::vector<GraphRow> graphs;          // By first execute.
  std::vector<BreakRow> breaks;          // The one to remove first is first.
  std::vector<RecompileRow> recompiles;  // In order.
  std::vector<SlowRow> slow;             // That took the most time first.
  int64_t steps = 0;                     // Calls of Sync().
  int64_t compiles = 0, cache_hits = 0, executes = 0;
  Amount host_to_device, device_to_host;  // As the account has them.
  // Of these what no graph has: uploads that none followed, and reads of what none made.
  int64_t other_host_to_device_bytes = 0, other_device_to_host_bytes = 0;
  int64_t number_bytes = 0;  // Of all graphs.
  PhaseTimes times;          // Of all graphs.
  // From the first event to the last. Phases overlap, and there is the program's own work between them: no
  // sum.
  double wall_us = 0;
};

GraphReport MakeGraphReport(const Profile& run);
// Of what `body` does, until its results are there: in this thread and others.
GraphReport ReportGraphs(const std::function<void()>& body);

// Tables: graphs, breaks, recompiles, slow paths, and which break to remove first.
std::string ToText(const GraphReport& report);
// One object; keys are the names of the fields.
std::string ToJson(const GraphReport& report);

}  // namespace hlod
