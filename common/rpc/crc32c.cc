// Computes CRC-32C with the processor's instruction: three independent streams hide its latency, and a table
// of "append n zero bytes" in GF(2) combines their results. Without SSE 4.2 it uses a table per byte.
#include <array>
#include <cstring>

#include "common/base/system/cpu.h"
#include "common/rpc/crc32c.h"

namespace hlod::rpc {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's polynomial, bit-reversed.

constexpr std::array<uint32_t, 256> MakeByteTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kByteTable = MakeByteTable();

uint32_t Portable(uint32_t crc, const unsigned char* data, size_t size) {
  for (; size > 0; --size) crc = (crc >> 8) ^ kByteTable[(crc ^ *data++) & 0xff];
  return crc;
}

#if defined(__x86_64__)

// The bytes per stream, for large and for small data; a block has three streams.
constexpr size_t kLane = 4096, kShortLane = 256;

// Makes the tables that append `lane` zero bytes to a checksum, one table per byte of the checksum. Appending
// is linear over GF(2), so it takes four table look-ups and three xors.
template <size_t lane>
std::array<std::array<uint32_t, 256>, 4> MakeShiftTable() {
  std::array<uint32_t, 32> bits{};
  const std::array<unsigned char, lane> zeros{};
  for (int bit = 0; bit < 32; ++bit) bits[bit] = Portable(uint32_t{1} << bit, zeros.data(), lane);
  std::array<std::array<uint32_t, 256>, 4> table{};
  for (int byte = 0; byte < 4; ++byte) {
    for (uint32_t value = 0; value < 256; ++value) {
      for (int bit = 0; bit < 8; ++bit) {
        if ((value >> bit & 1) != 0) table[byte][value] ^= bits[byte * 8 + bit];
      }
    }
  }
  return table;
}

uint64_t Word(const unsigned char* p) {
  uint64_t w;
  std::memcpy(&w, p, sizeof(w));
  return w;
}

// Takes whole blocks from the data, as long as there are any.
template <size_t lane>
__attribute__((target("sse4.2"))) uint32_t Blocks(uint32_t crc, const unsigned char*& data, size_t& size) {
  if (size < 3 * lane) return crc;
  static const std::array<std::array<uint32_t, 256>, 4> shift = MakeShiftTable<lane>();
  const auto append_lane = [](uint32_t c) {
    return shift[0][c & 0xff] ^ shift[1][c >> 8 & 0xff] ^ shift[2][c >> 16 & 0xff] ^ shift[3][c >> 24];
  };
  for (; size >= 3 * lane; size -= 3 * lane, data += 3 * lane) {
    uint64_t a = crc, b = 0, c = 0;
    for (size_t i = 0; i < lane; i += 8) {
      a = __builtin_ia32_crc32di(a, Word(data + i));
      b = __builtin_ia32_crc32di(b, Word(data + lane + i));
      c = __builtin_ia32_crc32di(c, Word(data + 2 * lane + i));
    }
    crc = append_lane(append_lane(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^
          static_cast<uint32_t>(c);
  }
  return crc;
}

__attribute__((target("sse4.2"))) uint32_t Hardware(uint32_t crc, const unsigned char* data, size_t size) {
  crc = Blocks<kLane>(crc, data, size);
  crc = Blocks<kShortLane>(crc, data, size);
  uint64_t wide = crc;
  for (; size >= 8; size -= 8, data += 8) wide = __builtin_ia32_crc32di(wide, Word(data));
  return Portable(static_cast<uint32_t>(wide), data, size);
}

#endif

}  // namespace

uint32_t Crc32c(absl::Span<const std::byte> data, uint32_t seed) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(data.data());
#if defined(__x86_64__)
  if (UsesCpuExtension(CpuExtension::kSse42)) return ~Hardware(~seed, bytes, data.size());
#endif
  return ~Portable(~seed, bytes, data.size());
}

}  // namespace hlod::rpc
