// SHA-256 of bytes, by which programs are cached. Both sides compute it from the bytes; neither trusts a
// digest that it receives.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace hlod {

using Digest = std::array<uint8_t, 32>;

// Returns the SHA-256 digest of `bytes` (FIPS 180-4).
Digest Sha256(std::string_view bytes);

// Returns 64 lower-case hexadecimal digits.
std::string ToHex(const Digest& digest);

}  // namespace hlod
