// The kinds of clients: each works in rounds, which check their values.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlod/hlod.h"

namespace hlod::soak {

// The surroundings of a client process.
struct Place {
  std::string unix_address, tcp_address;
  std::string folder;   // A folder of its own for files.
  std::mt19937 random;  // Seeded by the client's number.
};

using Round = std::function<void()>;

struct Kind {
  const char* name;
  const char* what;
  bool mortal;  // May be killed at any moment.
  // Connects if the kind keeps a session, and returns a function that does one round. Both throw
  // std::runtime_error when anything is not as it must be.
  Round (*open)(Place& place);
};

// The kinds that are part of this program. A client of JAX is a program of its own (jax_client.py).
const std::vector<Kind>& Kinds();
Round OpenTensors(Place& place);

inline void Expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}
inline void Expect(const absl::Status& status) { Expect(status.ok(), status.ToString()); }
inline void ExpectKind(const absl::Status& status, ErrorKind kind) {
  Expect(KindOf(status) == kind, "an error of another kind than was expected: " + status.ToString());
}
template <typename T>
T Expect(absl::StatusOr<T> value) {
  Expect(value.status());
  return *std::move(value);
}

}  // namespace hlod::soak
