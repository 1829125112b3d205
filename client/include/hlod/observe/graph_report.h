// A report of the graphs that a program ran, of the breaks between them, and of their costs. It is made only
// from a run's events and the daemon's account.
//
//   hlod::GraphReport report = hlod::ReportGraphs([&] { Step(batch); });
//   std::puts(hlod::ToText(report).c_str());
//
//   HLOD_PROFILE=profile.jsonl ./train && hloctl graphs profile.jsonl
//
// A *break* is a point where the program needed a value before it had recorded its whole step: the operations
// recorded until then ran as one graph, and the rest became another. The end of a step, Sync(), ends a graph
// but is not a break. Breaks have two stages. "trace": the program's own line asked for a value. "lowering":
// the recorded operations could not become one program (a HostFunction(), a shape that depends on values, a
// trace too long).
//
// THE COSTS of a break are summed over all its occurrences. Bytes each way: the bytes that crossed at its
// line before the next graph ran. Held: the maximum size of the graph's results that the next one took.
// Fusion lost: the bytes of this graph's results and arguments that the next one read, and those that this
// one wrote only for it; one graph would not have stored them. Times, by phase: trace, lower and compile on
// this side; compile, queue and execute in the daemon; wait of the program at the line.
//
// THE SAVINGS OF A BREAK'S REMOVAL are computed by simulating the run twice: with every wait in its place,
// and with the break's graph and the next one merged, without its wait, transfers and host function. The
// program's time between its graphs is taken from the run; the device runs one graph at a time. The result is
// the gain in the program's time for this run. Gains do not add up: a wait that is removed at one break may
// reappear at the next.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlod/observe/account.h"
#include "hlod/observe/profile.h"
#include "hlod/tensor/trace.h"

namespace hlod {

// The summed times of the phases, in microseconds.
struct PhaseTimes {
  double trace_us = 0;    // Recording operations.
  double lower_us = 0;    // Finding the program in the cache, or lowering the trace to it.
  double compile_us = 0;  // Serialising and sending the program, and compiling it in the daemon.
  double queue_us = 0;    // Waiting in the daemon after all arguments were available.
  double execute_us = 0;
  double wait_us = 0;  // The program's waits for the daemon.
};

// One program that ran from one line for one cause.
struct GraphRow {
  std::string program;  // SHA-256, hexadecimal.
  std::string name;
  // The cause that ended the trace: Name(TraceCause), or "phase"; "execute" for a program that ran without a
  // trace.
  std::string cause;
  Origin origin;  // The line of the cause.
  std::optional<int64_t> nodes, inputs, outputs;  // Not known for a program that ran without a trace.
  // Programs that the daemon compiled, that it had (in memory, or in its persistent cache), and that were
  // found in this process.
  int64_t compiles = 0, daemon_hits = 0, cache_hits = 0;
  int64_t executes = 0;
  Distribution compile;        // The daemon's times of compiles and hits.
  int64_t compiles_timed = 0;  // The number of them in `compile`.
  Distribution queue, execute;
  int64_t executes_timed = 0;
  int64_t host_to_device_bytes = 0;  // The bytes of uploads since the previous graph.
  int64_t device_to_host_bytes = 0;  // The bytes of downloads of its results.
  // The bytes of numbers sent inside its executes, which the account does not count as transfers.
  int64_t number_bytes = 0;
};

enum class BreakStage : uint8_t { kTrace, kLowering };
std::string_view Name(BreakStage stage);
BreakStage StageOf(TraceCause cause);
// Returns a sentence of advice on how to avoid the break.
std::string_view Remedy(TraceCause cause);

struct BreakRow {
  BreakStage stage = BreakStage::kTrace;
  TraceCause cause{};
  std::string operation;  // "item", "print", or the host function's name.
  Origin origin;
  std::string value;  // The value that was asked for: "f32[8] made at model.cc:5"
  int64_t times = 0;
  int64_t host_to_device_bytes = 0, device_to_host_bytes = 0;
  int64_t host_to_device_calls = 0, device_to_host_calls = 0;
  int64_t held_bytes = 0;
  int64_t fusion_lost_bytes = 0;
  PhaseTimes times_us;  // The times of the graphs that the break ended, and of the waits at it.
  // The savings when the break is removed, besides the transfers: graphs, executes and program time.
  int64_t saves_graphs = 0, saves_executes = 0;
  double saves_us = 0;
};

// A recompile: a compile by a line that had compiled another program before, or of the same program again.
struct RecompileRow {
  CompileReason reason = CompileReason::kUnsaid;
  std::string why;               // The reason in a sentence.
  std::string program, nearest;  // The names of the program and of the nearest earlier one.
  Origin origin;
  uint64_t step = 0;
  double compile_us = 0;  // The time of the compile, on both sides.
};

// A step or operation that took a path more than ten times slower than the normal one.
struct SlowRow {
  std::string path;  // "slow_step" for a step of a program in the daemon; else Name(SlowPath).
  std::string what;  // "sort (model.cc:12): its comparator is not an order of keys", "matmul on host tensors"
  std::string line;  // "model.cc:12", as far as it is known.
  std::string program;  // The module's name; empty for an operation of this process.
  int64_t times = 0;
  // The time of those executes (of which the slow step's share is not known), or of the operations.
  double us = 0;
  std::string remedy;
};

// The transfers of one line for one cause, as the daemon counted them, with all names, steps and devices.
struct LineTransfers {
  Cause cause = Cause::kUpload;  // DirectionOf(cause) is their direction.
  Origin origin;                 // Empty for lines that are not known, or too many.
  Amount amount;
};

struct GraphReport {
  std::vector<GraphRow> graphs;          // In order of their first executes.
  std::vector<BreakRow> breaks;          // The break with the largest saving comes first.
  std::vector<RecompileRow> recompiles;  // In order of time.
  std::vector<SlowRow> slow;             // The path that took the most time comes first.
  std::vector<LineTransfers> transfers;  // The line with the most bytes comes first.
  int64_t steps = 0;                     // The number of Sync() calls.
  int64_t compiles = 0, daemon_hits = 0, cache_hits = 0, executes = 0;  // As in GraphRow.
  Amount host_to_device, device_to_host;  // The totals of the account.
  // The bytes of the totals that belong to no graph: uploads without a following execute, and reads of values
  // that were not computed by a graph.
  int64_t other_host_to_device_bytes = 0, other_device_to_host_bytes = 0;
  int64_t number_bytes = 0;  // The sum over all graphs.
  PhaseTimes times;          // The sum over all graphs.
  // The time from the first event to the last. It is not the sum of the phases, which overlap, and between
  // which the program does its own work.
  double wall_us = 0;
};

GraphReport MakeGraphReport(const Profile& run);
// Reports on everything that this process does while `body` runs, in any thread, and until its results are
// available.
GraphReport ReportGraphs(const std::function<void()>& body);

// Formats tables of the graphs, breaks, recompiles, slow paths and transfers, and the break to remove first.
std::string ToText(const GraphReport& report);
// Formats one JSON object, whose keys are the names of the fields.
std::string ToJson(const GraphReport& report);

}  // namespace hlod
