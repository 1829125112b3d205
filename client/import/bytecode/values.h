// Maps the numbers of values in an artifact to ids. Numbers start at 0 in each isolated region, and at the
// end of the outer region's numbers in the others.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

class Values {
 public:
  // Opens a region with `count` values of its own. Operations in it may use values of the outer regions
  // unless it is isolated.
  void Open(uint64_t count, bool is_isolated);
  // Closes the innermost region. Returns an error when the stated number of values differs.
  absl::Status Close(const Stream& at);

  // Define the next value of the innermost region, as a new id or as `id`. `type` must outlive this object.
  absl::StatusOr<ValueId> Define(const Stream& at, const TypeEntry* type);
  absl::Status DefineAs(const Stream& at, ValueId id);
  // Returns the value with `number` in this region. Returns an error when it is not defined yet.
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
