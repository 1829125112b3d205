// Headers are read and written byte by byte, in network order.
#include "tests/integration/network/packets.h"

#include <string_view>

namespace hlod::network {
namespace {

constexpr size_t kIpBytes = 20, kTcpBytes = 20;
constexpr uint8_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16;

uint32_t Read(std::string_view bytes, size_t at, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i)
    value = value << 8 | static_cast<uint8_t>(bytes[at + static_cast<size_t>(i)]);
  return value;
}
void Append(std::string& bytes, uint32_t value, int count) {
  for (int i = count - 1; i >= 0; --i) bytes += static_cast<char>(value >> (8 * i));
}

// The checksum of the Internet (RFC 1071).
uint16_t Checksum(std::string_view bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) sum += Read(bytes, i, 2);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}
void WriteChecksum(std::string& bytes, size_t at, uint16_t sum) {
  bytes[at] = static_cast<char>(sum >> 8);
  bytes[at + 1] = static_cast<char>(sum);
}

}  // namespace

std::optional<Segment> ParseSegment(const std::string& packet) {
  if (packet.size() < kIpBytes || (packet[0] & 0xf0) != 0x40 || packet[9] != 6) return std::nullopt;
  const size_t ip_bytes = static_cast<size_t>(packet[0] & 15) * 4, total = Read(packet, 2, 2);
  if (packet.size() < total || total < ip_bytes + kTcpBytes) return std::nullopt;
  const std::string_view tcp = std::string_view(packet).substr(ip_bytes, total - ip_bytes);
  const size_t tcp_bytes = (Read(tcp, 12, 1) >> 4) * 4;
  if (tcp.size() < tcp_bytes) return std::nullopt;
  const auto flags = static_cast<uint8_t>(tcp[13]);
  return Segment{
      .source_port = static_cast<uint16_t>(Read(tcp, 0, 2)),
      .destination_port = static_cast<uint16_t>(Read(tcp, 2, 2)),
      .sequence = Read(tcp, 4, 4),
      .acknowledgement = Read(tcp, 8, 4),
      .length = static_cast<uint32_t>(tcp.size() - tcp_bytes) + ((flags & kSyn) != 0) + ((flags & kFin) != 0),
      .syn = (flags & kSyn) != 0,
      .ack = (flags & kAck) != 0,
      .rst = (flags & kRst) != 0};
}

std::string ResetOf(const std::string& packet, const Segment& segment) {
  std::string ip;
  Append(ip, 0x4500, 2);
  Append(ip, kIpBytes + kTcpBytes, 2);
  Append(ip, 0, 4);  // Identification, no fragment.
  Append(ip, 64 << 8 | 6, 2);
  Append(ip, 0, 2);  // The checksum comes last.
  ip += packet.substr(16, 4) + packet.substr(12, 4);
  WriteChecksum(ip, 10, Checksum(ip));
  std::string tcp;
  Append(tcp, segment.destination_port, 2);
  Append(tcp, segment.source_port, 2);
  Append(tcp, segment.ack ? segment.acknowledgement : 0, 4);
  Append(tcp, segment.ack ? 0 : segment.sequence + segment.length, 4);
  Append(tcp, 5 << 12 | static_cast<uint32_t>(segment.ack ? kRst : kRst | kAck), 2);
  Append(tcp, 0, 6);  // Window, checksum, urgent pointer.
  std::string pseudo = ip.substr(12, 8);
  Append(pseudo, 6, 2);
  Append(pseudo, static_cast<uint32_t>(tcp.size()), 2);
  WriteChecksum(tcp, 16, Checksum(pseudo + tcp));
  return ip + tcp;
}

}  // namespace hlod::network
