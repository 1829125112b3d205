// The keys by which a close searches the caches of programs: all that determines a program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/tensor/program/canonical.h"
#include "client/tensor/trace/trace.h"
#include "hlod/runtime/client.h"

namespace hlod::lazy {

// The results of a close: `nodes` in order, each once; `values` holds the live values of each node.
struct Outputs {
  std::vector<NodeId> nodes;
  std::vector<std::vector<Value*>> values;
};

// REQUIRES: TraceLock.
Outputs OutputsOf(const Trace& graph);

// The key of a trace as it was recorded, besides the words of its instructions.
struct RecordedKey {
  std::vector<int> mesh;      // The devices that the program is divided among; empty: none.
  std::vector<bool> donated;  // By parameter.
  std::vector<uint32_t> tail;
};
// Puts the parameters onto the trace's mesh, if it has one. Throws an Error when that fails. REQUIRES:
// TraceLock.
RecordedKey RecordedKeyOf(Trace& graph, const Outputs& outputs, const Caller& caller);

// The key of the canonical form, and what is compiled when it is not found.
struct CanonicalKey {
  // REQUIRES: TraceLock.
  CanonicalKey(const Trace& graph, const Outputs& outputs, const RecordedKey& key);
  // The key of `form` in the place of that of `other`, whose parameters it begins with.
  CanonicalKey(Canonical form, const CanonicalKey& other);

  absl::Span<const uint32_t> words() const { return form.computation->words(); }
  std::unique_ptr<Module> MakeModule(const Trace& graph, const Caller& caller) const;

  Canonical form;
  std::vector<std::string> shardings;  // By output, serialized; empty without a mesh.
  std::vector<uint32_t> donors, tail;
  CompileOptions options;
};

}  // namespace hlod::lazy
