// Reads names, lines, call sites and fused locations.
#include "client/import/bytecode/locations.h"

#include <algorithm>

#include "client/import/bytecode/attributes.h"

namespace hlod::stablehlo::bytecode {
namespace {

enum LocationCode : uint64_t {
  kCallSite = 10,
  kFileLineColumn = 11,
  kFused = 12,
  kFusedWithMetadata = 13,
  kName = 14,
  kUnknown = 15,
  kFileLineColumnRange = 22,
};

// Reads an index and returns its location, which the source owns.
absl::StatusOr<const Location*> Find(Source& source, Stream& in);

// Copies to `outer` the fields of `inner` that `outer` lacks.
void Add(const Location& inner, Location& outer) {
  if (outer.name.empty()) outer.name = inner.name;
  if (!outer.file.empty()) return;
  outer.file = inner.file;
  outer.line = inner.line;
}

absl::Status ReadLine(Stream& in, Location& location) {
  ASSIGN_OR_RETURN(const uint64_t line, in.Number());
  location.line = static_cast<int>(std::min<uint64_t>(line, INT32_MAX));
  return absl::OkStatus();
}

absl::Status ReadFused(Source& source, Stream& in, Location& location) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("fused locations"));
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const Location* const part, Find(source, in));
    Add(*part, location);
  }
  return absl::OkStatus();
}

absl::Status ReadFields(Source& source, uint64_t code, Stream& in, Location& location) {
  switch (code) {
    // Keeps only the callee: fields of a caller are not used, and chains of callers may be long.
    case kCallSite: {
      ASSIGN_OR_RETURN(const Location* const callee, Find(source, in));
      location = *callee;
      return in.Index(source.is_used.size(), "location").status();
    }
    case kFileLineColumn: {
      ASSIGN_OR_RETURN(location.file, ReadStringAttribute(source, in));
      RETURN_IF_ERROR(ReadLine(in, location));
      return in.Number().status();
    }
    case kFileLineColumnRange: {
      ASSIGN_OR_RETURN(location.file, ReadStringAttribute(source, in));
      ASSIGN_OR_RETURN(const size_t count, in.Count("lines and columns"));
      for (size_t i = 0; i < count; ++i) {
        if (i == 0) RETURN_IF_ERROR(ReadLine(in, location));
        if (i > 0) RETURN_IF_ERROR(in.Number().status());
      }
      return absl::OkStatus();
    }
    case kFused: return ReadFused(source, in, location);
    case kFusedWithMetadata: {
      RETURN_IF_ERROR(ReadFused(source, in, location));
      return in.Index(source.is_used.size(), "attribute").status();
    }
    case kName: {
      ASSIGN_OR_RETURN(location.name, ReadStringAttribute(source, in));
      ASSIGN_OR_RETURN(const Location* const child, Find(source, in));
      Add(*child, location);
      return absl::OkStatus();
    }
    case kUnknown: return absl::OkStatus();
    default: return in.Error("expected a location, found attribute %d of the dialect builtin", code);
  }
}

absl::StatusOr<const Location*> Find(Source& source, Stream& in) {
  const Nested nested(source);
  RETURN_IF_ERROR(nested.Check(in));
  const Stream before = in;
  ASSIGN_OR_RETURN(const size_t index, in.Index(source.is_used.size(), "location"));
  std::optional<Location>& known = source.locations[index];
  if (known) return &*known;
  const Entry& entry = source.container.attributes[index];
  Location location;
  if (entry.is_custom) {
    if (entry.dialect != "builtin")
      return before.Error("expected a location, found an attribute of the dialect %s", entry.dialect);
    Stream fields = entry.bytes;
    ASSIGN_OR_RETURN(const uint64_t code, fields.Number());
    RETURN_IF_ERROR(ReadFields(source, code, fields, location));
    RETURN_IF_ERROR(fields.End("a location"));
  }
  RETURN_IF_ERROR(source.Charge(before, static_cast<int64_t>(location.name.size() + location.file.size())));
  known = std::move(location);
  return &*known;
}

}  // namespace

absl::StatusOr<Location> ReadLocation(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const Location* const location, Find(source, in));
  RETURN_IF_ERROR(source.Charge(before, static_cast<int64_t>(location->name.size() + location->file.size())));
  return *location;
}

}  // namespace hlod::stablehlo::bytecode
