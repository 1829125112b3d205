// Frames of RFC 9113 and header fields of RFC 7541, by hand: an empty SETTINGS frame and, once the client has
// sent the HEADERS of a call, those of an answer that ends it.
#include "server/grpc/refusal.h"

#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/rpc/grpc/status.h"

namespace hlod::grpc_server {
namespace {

constexpr uint8_t kHeaders = 1, kSettings = 4;
constexpr uint8_t kEndStreamAndHeaders = 1 | 4;
constexpr size_t kPrefaceBytes = 24, kFrameHeadBytes = 9;
// The number of refused connections that wait, and the time until their clients must have read why.
constexpr size_t kRefusedMax = 32;
constexpr absl::Duration kRefusedFor = absl::Seconds(2);
constexpr size_t kReceivedMax = 64 << 10;  // The first call of a client begins within this number of bytes.

std::string BigEndian(uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes; i-- > 0;) text += static_cast<char>(value >> 8 * i);
  return text;
}

uint32_t Number(std::string_view big_endian) {
  uint32_t value = 0;
  for (const char c : big_endian) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  return BigEndian(static_cast<uint32_t>(payload.size()), 3) + static_cast<char>(type) +
         static_cast<char>(flags) + BigEndian(stream, 4) + payload;
}

// Returns a string literal without Huffman coding: its length is an integer with a prefix of 7 bits.
std::string Literal(std::string_view text) {
  std::string bytes;
  size_t length = text.size();
  if (length < 127) {
    bytes += static_cast<char>(length);
  } else {
    bytes += static_cast<char>(127);
    for (length -= 127; length >= 128; length >>= 7) bytes += static_cast<char>(length | 128);
    bytes += static_cast<char>(length);
  }
  return bytes.append(text);
}

// Returns a field that is not indexed, with a new name.
std::string Field(std::string_view name, std::string_view value) {
  return std::string(1, '\0') + Literal(name) + Literal(value);
}

// Returns a status without messages before it ("Trailers-Only" in gRPC's protocol).
std::string TrailersOnly(const grpc::Status& status) {
  std::string message;
  for (const char c : status.error_message())
    c<' ' || c> '~' || c == '%'
        ? absl::StrAppend(&message, "%", absl::Hex(static_cast<uint8_t>(c), absl::kZeroPad2))
        : absl::StrAppend(&message, std::string(1, c));
  return "\x88" /* :status 200 */ + Field("content-type", "application/grpc") +
         Field("grpc-status", std::to_string(status.error_code())) + Field("grpc-message", message) +
         Field("grpc-status-details-bin", absl::Base64Escape(status.error_details()));
}

bool Send(int socket, const std::string& bytes) {
  return send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace

RefusedConnection::RefusedConnection(ConnectedSocket socket, const absl::Status& why)
    : socket_(std::move(socket)), answer_(TrailersOnly(rpc::ToGrpc(why))) {
  Send(fd(), Frame(kSettings, 0, 0, ""));
}

bool RefusedConnection::Advance() {
  // A peer that writes as fast as it is read must not keep the thread here: the rest waits for the next call.
  constexpr int kReadsMax = 16;
  char bytes[4096];
  for (int reads = 0; reads < kReadsMax; ++reads) {
    const ssize_t n = recv(fd(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (n <= 0 || received_.size() > kReceivedMax) return false;
    if (!answer_.empty()) received_.append(bytes, static_cast<size_t>(n));
  }
  // Stays open until the client closes it, because a client that still writes would get an error before the
  // answer.
  if (answer_.empty()) return true;
  for (size_t at = kPrefaceBytes; at + kFrameHeadBytes <= received_.size();) {
    const std::string_view head = std::string_view(received_).substr(at, kFrameHeadBytes);
    at += kFrameHeadBytes + Number(head.substr(0, 3));
    if (static_cast<uint8_t>(head[3]) != kHeaders || at > received_.size()) continue;
    if (!Send(fd(), Frame(kHeaders, kEndStreamAndHeaders, Number(head.substr(5, 4)) & 0x7fffffff, answer_)))
      return false;
    answer_.clear();
    received_.clear();
    return true;
  }
  return true;
}

void RefusedConnections::Add(ConnectedSocket socket, const absl::Status& why) {
  MutexLock lock(&mu_);
  if (refused_.size() >= kRefusedMax) refused_.pop_front();
  refused_.push_back({RefusedConnection(std::move(socket), why), absl::Now() + kRefusedFor});
}

void RefusedConnections::Tick() {
  MutexLock lock(&mu_);
  const absl::Time now = absl::Now();
  std::erase_if(refused_,
                [now](Refused& refused) { return refused.ends <= now || !refused.connection.Advance(); });
}

}  // namespace hlod::grpc_server
