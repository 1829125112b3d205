// The tables that all traces of the process share: interned shapes and attributes, callees, source lines.
// Guarded by TraceLock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/hlo/builder.h"
#include "hlod/runtime/caller.h"
#include "hlod/tensor/operand.h"

namespace hlod::lazy {

// A line of the program and an operation on it.
struct OriginRow {
  Caller caller;
  const char* operation = "";  // PyTorch's name of the operation. Lives as long as the process.
};

// The shared tables. Because one lock guards them, ids have the same meaning in every thread's traces: a
// trace can be copied between threads word by word, and equal words are equal programs.
class TraceTables {
 public:
  static TraceTables& Get();

  // The computations that traces call, each stored once: equal contents have equal ids.
  hlo::Module& callees() { return *callees_; }
  const std::shared_ptr<hlo::Tables>& tables() const { return callees_->shared_tables(); }
  // Returns the computation that joins two scalars by `opcode`.
  hlo::ComputationId Reducer(hlo::Opcode opcode, hlo::PrimitiveType type);
  // Returns the callee that `build` appends; `build` returns its root. Throws Refusal when the builder fails.
  hlo::ComputationId Callee(std::string_view name, absl::FunctionRef<hlo::Op(hlo::Builder&)> build);
  // Returns the callee equal to `candidate`, including notes; adds it if there is none.
  hlo::ComputationId Callee(const hlo::Computation& candidate);

  uint32_t InternOrigin(const Caller& caller, const char* operation);
  const OriginRow& origin(uint32_t id) const { return origins_[id]; }

  // Returns true when a number written at `caller` becomes a parameter of the program: it is not 0, 1, -1 or
  // a bool, or differs from an earlier number there.
  bool IsParameter(const Caller& caller, const Scalar& value);
  // Returns true once the setting `name` of an operation at `caller`, such as a probability or a slope, has
  // changed.
  bool SettingVaries(const Caller& caller, const char* name, const Scalar& value);
  // Returns true once the starts of the slices at `caller` have changed from one trace to the next. A line
  // may slice several times in a trace with different starts; `trace` identifies the trace. ShiftVaries() is
  // the same for shifts of Roll().
  bool StartVaries(const Caller& caller, uint64_t trace, int64_t start);
  bool ShiftVaries(const Caller& caller, uint64_t trace, int64_t shift);
  // Returns true once the index written at `caller` has changed.
  bool IndexVaries(const Caller& caller, int64_t index);

  hlo::AttributesId ParameterNumber(uint32_t number);

 private:
  TraceTables();

  struct Site {
    Scalar first;
    bool varied = false;
  };
  bool Varies(uint64_t site, const Scalar& value);
  bool StartVaries(uint64_t site, uint64_t trace, int64_t start);

  // The starts of a line's slices, or its shifts, in the first trace that contains the line.
  struct StartSite {
    std::vector<int64_t> starts;
    uint64_t trace = 0;
    size_t next = 0;
    bool is_first = true, varied = false;
  };

  std::unique_ptr<hlo::Module> callees_;
  absl::flat_hash_map<uint32_t, hlo::ComputationId> reducers_;  // Indexed by opcode and type.
  absl::flat_hash_map<uint64_t, std::vector<hlo::ComputationId>> callees_by_hash_;
  std::vector<OriginRow> origins_;
  absl::flat_hash_map<uint64_t, uint32_t> origin_ids_;
  std::array<std::pair<uint64_t, uint32_t>, 256> recent_origins_{};
  absl::flat_hash_map<uint64_t, Site> sites_;
  absl::flat_hash_map<uint64_t, StartSite> start_sites_;
  std::vector<hlo::AttributesId> parameter_numbers_;
};

}  // namespace hlod::lazy
