// Values by the numbers that an artifact has for them: from 0 in each isolated region, from where the outer
// region's end in the others.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

class Values {
 public:
  // A region that has `count` values of its own. Those of the outer regions are used in it unless it is
  // isolated.
  void Open(uint64_t count, bool is_isolated);
  // The end of the innermost region. Error: it has other than the stated number of values.
  absl::Status Close(const Stream& at);

  // The next value of the innermost region, new or one that has an id already. `type` outlives it.
  absl::StatusOr<ValueId> Define(const Stream& at, const TypeEntry* type);
  absl::Status DefineAs(const Stream& at, ValueId id);
  // The value that is `number` here. Error: it is not defined yet.
  absl::StatusOr<ValueId> Use(const Stream& at, uint64_t number) const;

  const TypeEntry& TypeOf(ValueId id) const { return *types_[id]; }
  ValueId count() const { return static_cast<ValueId>(types_.size()); }

 private:
  struct OpenRegion {
    uint64_t first = 0, count = 0;
    bool is_isolated = false;
    std::vector<ValueId> defined;
  };
  std::vector<OpenRegion> regions_;
  std::vector<const TypeEntry*> types_;  // By id.
};

}  // namespace hlod::stablehlo::bytecode
