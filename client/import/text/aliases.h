// Aliases (#map = ..., !t = ..., #loc1 = loc(...)) and resources ({-# ... #-}): what is defined in one place
// of the text, often its end, and used in others.
#pragma once

#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "client/import/operation.h"
#include "client/import/text/reader.h"

namespace hlod::stablehlo::text {

struct Alias {
  size_t at = 0, end = 0;  // Of the value; `end` is known when it was read.
  bool is_being_read = false;
  std::optional<Attribute> attribute;
  std::optional<Location> location;
  int64_t bytes = 0;  // What a copy takes.
  int depth = 0;      // How deep it is nested.
};

class Aliases {
 public:
  // Finds the definitions, which stand at the beginnings of lines; their values are read when they are first
  // used. Error: two of one name.
  absl::Status Find(Reader& reader);

  // The alias `name` with its sign ("#map"), or null. It stays where it is.
  Alias* Get(std::string_view name);

  // The resource's bytes in hexadecimal, without "0x" and the alignment before them. `at` is for errors.
  absl::StatusOr<std::string_view> Resource(Reader& reader, std::string_view name, size_t at);
  // Reads a resource section after its "{-#", up to its "#-}".
  absl::Status ReadResources(Reader& reader);

 private:
  // Reads one dialect's "{ name: "0x...", ... }".
  absl::Status ReadDialectResources(Reader& reader);

  absl::flat_hash_map<std::string_view, std::unique_ptr<Alias>> aliases_;
  absl::flat_hash_map<std::string, std::string_view> resources_;
  std::optional<size_t> resources_at_;  // After the "{-#".
};

}  // namespace hlod::stablehlo::text
