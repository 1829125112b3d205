// Running what was recorded, and looking at it: Sync, dumps, counters.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

enum class TraceCause : uint8_t {
#define HLOD_TRACE_CAUSE(id, text, meaning) id,
#include "hlod/observe/trace_causes.inc"
#undef HLOD_TRACE_CAUSE
};
inline constexpr int kTraceCauses = 0
#define HLOD_TRACE_CAUSE(id, text, meaning) +1
#include "hlod/observe/trace_causes.inc"
#undef HLOD_TRACE_CAUSE
    ;
std::string_view Name(TraceCause cause);

// Runs what this thread has recorded: one execute a device with recorded work. Does not wait for it, except
// that no more than closes_unsettled_max executes are under way at once. What depends on a placeholder is not
// run; when such a tensor is still referred to, throws an error of kind placeholder after the rest was sent.
// Throws also when a connection has lost its session: nothing would be computed from then on.
void Sync(Caller caller = Caller::Here());

// The counters of tracing in this process since it began, or since ResetTraceStats().
struct TraceStats {
  int64_t operations = 0;  // Calls of operations on devices.
  int64_t closes = 0;      // Graphs that were run ...
  std::array<int64_t, kTraceCauses> closes_by_cause{};
  int64_t nodes = 0;           // ... and the instructions in them.
  int64_t compiles = 0;        // Programs sent to be compiled ...
  int64_t trace_hits = 0;      // ... graphs found as they were recorded ...
  int64_t canonical_hits = 0;  // ... and found after dead code was removed and nodes were put in order.
  int64_t donated = 0;         // Arguments given away.
  int64_t inline_numbers = 0;  // Arguments that were numbers and travelled in the execute.
  int64_t implicit_copies = 0, implicit_copy_bytes = 0;  // Host tensors that met device tensors.
  int64_t host_operations = 0;                           // Evaluated in this process.
  int64_t host_functions = 0;                            // Calls of HostFunction().
  int64_t refused_reads = 0;                             // Refused reads of placeholders.
};
TraceStats GetTraceStats();
void ResetTraceStats();

enum class DumpFormat {
  kText,  // One line an operation in the program's terms: names, shapes, source lines.
  kHlo,   // The HLO module as text, as it would be compiled.
  kDot,   // The same as a graph for Graphviz.
};
// Formats the computation of the tensors: their part of the open trace, lowered as a close would lower it.
// Reads nothing and sends nothing, so it works on placeholders. A tensor that has its value is a parameter.
std::string Dump(absl::Span<const Tensor> tensors, DumpFormat form = DumpFormat::kText,
                 Caller caller = Caller::Here());
inline std::string Dump(const Tensor& tensor, DumpFormat form = DumpFormat::kText,
                        Caller caller = Caller::Here()) {
  return Dump(absl::MakeConstSpan(&tensor, 1), form, caller);
}
// The same as a module. Parameters are in order of first use; `arguments`, when not null, takes the tensors
// that they stand for, a number's being on the host.
std::unique_ptr<Module> Lower(absl::Span<const Tensor> tensors, std::vector<Tensor>* arguments = nullptr,
                              Caller caller = Caller::Here());

}  // namespace hlod
