// The values of a program by name: their visibility, numbers and types.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/import/program/operation.h"
#include "client/import/text/reader.h"

namespace hlod::stablehlo::text {

// The outer values that a region may use.
enum class Sight {
  kOuter,    // All. The region cannot reuse their names.
  kShadows,  // All. The region may reuse their names: sdy.manual_computation.
  kNothing,  // No values: func.func, builtin.module.
};

// The names before an operation's '=': "%0", "%0:2".
struct ValueName {
  std::string_view name;  // Without the '%'.
  int count = 1;
  size_t at = 0;
};

class Values {
 public:
  explicit Values(Reader& reader) : reader_(reader) {}

  // Returns the first of `count` consecutive numbers. Their types are set by Define or SetType.
  absl::StatusOr<ValueId> Number(int count, size_t at);
  void SetType(ValueId id, const Type& type) { types_[id] = type; }
  const Type& TypeOf(ValueId id) const { return types_[id]; }
  ValueId count() const { return static_cast<ValueId>(types_.size()); }

  // Defines `name` as the values from `first` on.
  absl::Status Define(const ValueName& name, ValueId first);
  // Reads "%name" or "%name#1" and returns the value that it names.
  absl::StatusOr<ValueId> ReadUse();

  // Open a region and close it; definitions within it end with it.
  void Open(Sight sight);
  void Close();

 private:
  struct Definition {
    ValueId first = 0;
    int count = 1;
    size_t at = 0, region = 0;
  };
  struct OpenRegion {
    Sight sight = Sight::kOuter;
    // Definitions that Close restores.
    std::vector<std::pair<std::string_view, std::optional<Definition>>> before;
  };
  // Returns the innermost open region for which `ends` is true, counted from 1; 0: none.
  size_t FirstWhere(bool (*ends)(Sight)) const;

  Reader& reader_;
  absl::flat_hash_map<std::string_view, Definition> names_;
  std::vector<Type> types_;  // The types by number.
  std::vector<OpenRegion> regions_;
};

}  // namespace hlod::stablehlo::text
