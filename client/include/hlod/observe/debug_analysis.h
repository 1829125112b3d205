// Prints, while the program runs, why each graph is compiled and run, as PT_XLA_DEBUG does in PyTorch/XLA.
//
//   HLOD_DEBUG=1 ./train                                 compilations
//   HLOD_DEBUG=2 HLOD_DEBUG_FILE=causes.txt ./train      executions, too; appended to the file, not to stderr
//
//   Compilation Analysis: ================================================================================
//   Compilation Analysis: Compilation Cause
//   Compilation Analysis:   item: the program read one element: Item(), bool, a comparison in an if
//   Compilation Analysis: Graph Info:
//   Compilation Analysis:   Graph Name: trace_train.cc:88
//   Compilation Analysis:   Graph Hash: 5f0b...
//   Compilation Analysis:   Number of Graph Inputs: 2
//   Compilation Analysis:   Number of Graph Outputs: 1
//   Compilation Analysis: Recompile Reason
//   Compilation Analysis:   parameter 1 was f32[32,512], now f32[31,512], made at data.cc:12
//   Compilation Analysis: Source Line Triggered Execution:
//   Compilation Analysis:   item (train.cc:88)
//   Compilation Analysis: ================================================================================
//
// Executions have the same lines after "Execution Analysis: ", without the recompile reason. When $HLOD_DEBUG
// is 0 or not set, nothing is printed. The variables are read at the first connection, which fails for a
// level that is not 0, 1 or 2, or a file that cannot be written. For figures instead of text see
// hlod/observe/graph_report.h.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "hlod/observe/events.h"

namespace hlod {

class DebugAnalysis : public Observer {
 public:
  enum Level : int { kNothing = 0, kCompilations = 1, kExecutions = 2 };
  // `write` receives the text of one analysis per call, in whole lines; calls do not overlap.
  DebugAnalysis(Level level, std::function<void(std::string_view)> write);

  void OnEvent(const Event& event) override;

 private:
  const Level level_;
  const std::function<void(std::string_view)> write_;
  // By program, the reasons of compiles whose CloseEvent has not come yet.
  std::map<std::string, std::string> reasons_;
};

}  // namespace hlod
