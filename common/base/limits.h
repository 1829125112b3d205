// The limits of a daemon, one field per row of limits.inc. A value type: copyable, comparable.
#pragma once

#include <cstdint>
#include <string_view>

namespace hlod {

struct Limits {
#define HLOD_LIMIT(name, value, text) int64_t name = value;
#include "common/base/limits.inc"
#undef HLOD_LIMIT
  friend bool operator==(const Limits&, const Limits&) = default;
};
static_assert(Limits{}.chunk_bytes_max < (4 << 20),
              "gRPC refuses messages over 4 MiB unless configured otherwise.");
static_assert(Limits{}.inline_bytes_max <= Limits{}.chunk_bytes_max);

// Calls f(name, member pointer, text) for each limit in the order of the table.
template <typename F>
void ForEachLimit(F&& f) {
#define HLOD_LIMIT(name, value, text) f(std::string_view(#name), &Limits::name, std::string_view(text));
#include "common/base/limits.inc"
#undef HLOD_LIMIT
}

}  // namespace hlod
