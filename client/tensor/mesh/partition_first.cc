// Looks for the program as the close will do, and stops where that would compile.
#include "client/tensor/mesh/partition_first.h"

#include "client/tensor/mesh/trace_mesh.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/placeholder.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/throw.h"

namespace hlod::lazy {

void AskForPartition(Trace& graph, const Outputs& outputs, const Caller& caller) {
  try {
    if (MeshOf(graph, caller).empty()) return;
    if (AbstractOf(graph.place) != nullptr) DeclarePlaceholders(graph, caller);
    const RecordedKey key = RecordedKeyOf(graph, outputs, caller);
    Runtime& runtime = *graph.place.runtime;
    if (runtime.recorded.Find(graph.computation().words(), key.tail) != nullptr) return;
    const CanonicalKey canonical(graph, outputs, key);
    if (runtime.canonical.Find(canonical.words(), canonical.tail) != nullptr) return;
    partition::Request request = runtime::RequestFor(*runtime.device(0).internal_session(),
                                                     *canonical.MakeModule(graph, caller), canonical.options);
    if (!runtime::PartitionAhead::Has(request)) throw PartitionWanted{std::move(request)};
  } catch (const Error&) {
  }
}

}  // namespace hlod::lazy
