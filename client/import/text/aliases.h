// Aliases (#map = ..., !t = ..., #loc1 = loc(...)) and resources ({-# ... #-}), which are defined in one
// place of the text, often its end, and used in others.
#pragma once

#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "client/import/program/operation.h"
#include "client/import/text/reader.h"

namespace hlod::stablehlo::text {

struct Alias {
  size_t at = 0, end = 0;  // Positions of the value; `end` is set once it was read.
  bool is_being_read = false;
  std::optional<Attribute> attribute;
  std::optional<Location> location;
  int64_t bytes = 0;  // The size of a copy.
  int depth = 0;      // The depth of nesting inside it.
};

class Aliases {
 public:
  // Finds the definitions, which are at the beginnings of lines; their values are read at their first use.
  // Returns an error when two have the same name.
  absl::Status Find(Reader& reader);

  // Returns the alias `name` with its sign ("#map"), or null. The pointer stays valid.
  Alias* Get(std::string_view name);

  // Returns the resource's bytes in hexadecimal, without "0x" and the alignment before them. `at` is the
  // position for errors.
  absl::StatusOr<std::string_view> Resource(Reader& reader, std::string_view name, size_t at);
  // Reads a resource section from after its "{-#" to its "#-}".
  absl::Status ReadResources(Reader& reader);

 private:
  // Reads one dialect's "{ name: "0x...", ... }".
  absl::Status ReadDialectResources(Reader& reader);

  absl::flat_hash_map<std::string_view, std::unique_ptr<Alias>> aliases_;
  absl::flat_hash_map<std::string, std::string_view> resources_;
  std::optional<size_t> resources_at_;  // The position after the "{-#".
};

}  // namespace hlod::stablehlo::text
