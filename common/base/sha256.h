// SHA-256 of bytes: the name under which a program is cached. Each side computes it from the bytes and trusts
// no digest that it is sent.
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
