// Session secrets: random, compared in constant time, and never printed.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::rpc {

inline constexpr size_t kSecretBytes = 32;

// The bytes that authorise access to a session. Printed as "***".
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string bytes) : bytes_(std::move(bytes)) {}
  // Returns 32 bytes from the kernel's random source.
  static Secret Random();
  // Returns the bytes, for the wire only.
  const std::string& bytes() const { return bytes_; }
  // Compares in constant time.
  bool Equals(std::string_view other) const;
  template <typename Stream>
  friend Stream& operator<<(Stream& stream, const Secret&) {
    stream << "***";
    return stream;
  }

 private:
  std::string bytes_;
};

}  // namespace hlod::rpc
