// Reads names, lines, call sites and fused locations.
#include "client/import/text/location.h"

#include <algorithm>

namespace hlod::stablehlo::text {
namespace {

absl::StatusOr<Location> ReadLocation(Source& source);

// Copies to `outer` the fields of `inner` that `outer` lacks.
void Add(const Location& inner, Location& outer) {
  if (outer.name.empty()) outer.name = inner.name;
  if (!outer.file.empty()) return;
  outer.file = inner.file;
  outer.line = inner.line;
}

// Reads ":4:60 to :70" after a file's name.
absl::Status ReadLine(Reader& reader, Location& location) {
  const auto number = [&]() -> absl::StatusOr<int64_t> {
    RETURN_IF_ERROR(reader.Expect(":"));
    return reader.Integer();
  };
  ASSIGN_OR_RETURN(const int64_t line, number());
  location.line = static_cast<int>(std::clamp<int64_t>(line, 0, INT32_MAX));
  if (reader.Peek() == ':') RETURN_IF_ERROR(number().status());
  if (!reader.TryKeyword("to")) return absl::OkStatus();
  if (reader.Peek() != ':') RETURN_IF_ERROR(reader.Integer().status());
  return number().status();
}

// Reads "file":1:2, "name"(location), "name".
absl::StatusOr<Location> ReadNamedLocation(Source& source) {
  Reader& reader = source.reader;
  Location location;
  ASSIGN_OR_RETURN(std::string text, reader.String());
  if (reader.Peek() == ':') {
    location.file = std::move(text);
    RETURN_IF_ERROR(ReadLine(reader, location));
    return location;
  }
  location.name = std::move(text);
  if (reader.Try("(")) {
    ASSIGN_OR_RETURN(const Location inner, ReadLocation(source));
    Add(inner, location);
    RETURN_IF_ERROR(reader.Expect(")"));
  }
  return location;
}

absl::StatusOr<Location> ReadCallSite(Source& source) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("("));
  ASSIGN_OR_RETURN(Location location, ReadLocation(source));
  if (!reader.TryKeyword("at")) return reader.Expected("'at' and the caller's location");
  // A caller has no field that is kept, and chains of callers may be long: an alias is skipped.
  if (reader.Peek() == '#') {
    RETURN_IF_ERROR(reader.NameAfter('#', "an alias").status());
  } else {
    RETURN_IF_ERROR(ReadLocation(source).status());
  }
  RETURN_IF_ERROR(reader.Expect(")"));
  return location;
}

absl::StatusOr<Location> ReadFused(Source& source) {
  Reader& reader = source.reader;
  Location location;
  if (reader.Peek() == '<') RETURN_IF_ERROR(reader.Balanced('<').status());
  RETURN_IF_ERROR(reader.Expect("["));
  while (!reader.Try("]")) {
    ASSIGN_OR_RETURN(const Location inner, ReadLocation(source));
    Add(inner, location);
    if (!reader.Try(",") && reader.Peek() != ']') return reader.Expected("',' or ']'");
  }
  return location;
}

absl::StatusOr<Location> ReadAlias(Source& source) {
  Reader& reader = source.reader;
  const size_t at = reader.position();
  RETURN_IF_ERROR(reader.NameAfter('#', "an alias").status());
  const std::string_view name = reader.TextFrom(at);
  ASSIGN_OR_RETURN(Alias* const alias, source.Resolve(name, at));
  if (!alias->location) return reader.ErrorAt(at, "the alias %s is not a location", name);
  return *alias->location;
}

absl::StatusOr<Location> ReadLocation(Source& source) {
  const Nested nested(source);
  RETURN_IF_ERROR(nested.status());
  Reader& reader = source.reader;
  if (reader.Peek() == '#') return ReadAlias(source);
  if (reader.Peek() == '"') return ReadNamedLocation(source);
  if (reader.TryKeyword("unknown")) return Location();
  if (reader.TryKeyword("callsite")) return ReadCallSite(source);
  if (reader.TryKeyword("fused")) return ReadFused(source);
  return reader.Expected("a location (\"name\", \"file\":line:column, callsite, fused, unknown, #alias)");
}

}  // namespace

absl::Status ReadOptionalLocation(Source& source, Location& location) {
  Reader& reader = source.reader;
  if (!reader.TryKeyword("loc")) return absl::OkStatus();
  RETURN_IF_ERROR(reader.Expect("("));
  ASSIGN_OR_RETURN(const Location stated, ReadLocation(source));
  Add(stated, location);
  return reader.Expect(")");
}

}  // namespace hlod::stablehlo::text
