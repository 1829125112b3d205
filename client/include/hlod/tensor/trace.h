// Runs and inspects the recorded operations: Sync, dumps, counters.
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

// Runs the operations that this thread has recorded: one execute per device with recorded operations. Does
// not wait for them, except that no more than closes_unsettled_max executes are in flight at once. Tensors
// that depend on a placeholder are not computed; when such a tensor is still referred to, throws an error of
// kind placeholder after the rest was sent. Also throws when a connection has lost its session, because later
// operations could not run either.
void Sync(Caller caller = Caller::Here());

// The counters of tracing in this process since it started, or since ResetTraceStats().
struct TraceStats {
  int64_t operations = 0;  // Calls of operations on devices.
  int64_t closes = 0;      // The number of graphs that were run.
  std::array<int64_t, kTraceCauses> closes_by_cause{};
  int64_t nodes = 0;       // The number of instructions in those graphs.
  int64_t compiles = 0;    // The number of programs sent to be compiled.
  int64_t trace_hits = 0;  // The number of graphs found in the cache as they were recorded.
  // The number of graphs found in the cache after dead code was removed and nodes were put in canonical
  // order.
  int64_t canonical_hits = 0;
  int64_t donated = 0;         // The number of donated arguments.
  int64_t inline_numbers = 0;  // The number of arguments that were numbers, sent in the execute.
  // Host tensors that were copied because an operation mixed them with device tensors.
  int64_t implicit_copies = 0, implicit_copy_bytes = 0;
  int64_t host_operations = 0;  // The number of operations evaluated in this process.
  int64_t host_functions = 0;                            // Calls of HostFunction().
  int64_t refused_reads = 0;                             // The number of refused reads of placeholders.
};
TraceStats GetTraceStats();
void ResetTraceStats();

enum class DumpFormat {
  kText,  // One line per operation in the program's terms: names, shapes, source lines.
  kHlo,   // The HLO module as text, as it would be compiled.
  kDot,   // The HLO module as a graph for Graphviz.
};
// Formats the computation of the tensors: their part of the open trace, lowered as a close would lower it. It
// neither reads nor sends, so it works on placeholders. A tensor whose value exists is a parameter.
std::string Dump(absl::Span<const Tensor> tensors, DumpFormat form = DumpFormat::kText,
                 Caller caller = Caller::Here());
inline std::string Dump(const Tensor& tensor, DumpFormat form = DumpFormat::kText,
                        Caller caller = Caller::Here()) {
  return Dump(absl::MakeConstSpan(&tensor, 1), form, caller);
}
// Returns the computation as a module. Parameters are in order of first use. Sets `arguments`, unless null,
// to the tensors of the parameters; a number's tensor is on the host.
std::unique_ptr<Module> Lower(absl::Span<const Tensor> tensors, std::vector<Tensor>* arguments = nullptr,
                              Caller caller = Caller::Here());

}  // namespace hlod
