// IPv4 packets with TCP, as far as a relay has to understand them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace hlod::network {

// The header fields of a TCP segment, in host byte order.
struct Segment {
  uint16_t source_port = 0, destination_port = 0;
  uint32_t sequence = 0, acknowledgement = 0;
  uint32_t length = 0;  // Sequence numbers that it takes: those of its payload, SYN and FIN.
  bool syn = false, ack = false, rst = false;
};

// Returns nullopt for a packet that is not a whole IPv4 packet with TCP.
std::optional<Segment> ParseSegment(const std::string& packet);

// Returns the packet with which a firewall that does not know the connection answers: a reset from the
// destination of `packet` to its source, by the rules of RFC 9293, section 3.10.7.1.
std::string ResetOf(const std::string& packet, const Segment& segment);

}  // namespace hlod::network
