// The values of a program by their names: who may see which, and their numbers and types.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "client/import/operation.h"
#include "client/import/text/reader.h"

namespace hlod::stablehlo::text {

// What a region sees of the values around it.
enum class Sight {
  kOuter,    // All; its names are others.
  kShadows,  // All, but its names may repeat theirs: sdy.manual_computation.
  kNothing,  // func.func, builtin.module.
};

// What stands before an operation's '=': "%0", "%0:2".
struct ValueName {
  std::string_view name;  // Without the '%'.
  int count = 1;
  size_t at = 0;
};

class Values {
 public:
  explicit Values(Reader& reader) : reader_(reader) {}

  // `count` numbers that follow one another; types come with Define or SetType.
  absl::StatusOr<ValueId> Number(int count, size_t at);
  void SetType(ValueId id, const Type& type) { types_[id] = type; }
  const Type& TypeOf(ValueId id) const { return types_[id]; }
  ValueId count() const { return static_cast<ValueId>(types_.size()); }

  // From now on `name` stands for the values from `first`.
  absl::Status Define(const ValueName& name, ValueId first);
  // The value that "%name" or "%name#1", which is read here, stands for.
  absl::StatusOr<ValueId> ReadUse();

  // A region: what is defined within is forgotten at its end.
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
    std::vector<std::pair<std::string_view, std::optional<Definition>>> before;  // What Close restores.
  };
  // The innermost open region that `ends` holds for, counted from 1; 0: none.
  size_t FirstWhere(bool (*ends)(Sight)) const;

  Reader& reader_;
  absl::flat_hash_map<std::string_view, Definition> names_;
  std::vector<Type> types_;  // By number.
  std::vector<OpenRegion> regions_;
};

}  // namespace hlod::stablehlo::text
