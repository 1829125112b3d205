// Reads and writes frames with a deadline.
#include "client/partition/frame.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors/status.h"

namespace hlod::partition {
namespace {

constexpr uint64_t kHeaderBytesMax = uint64_t{64} << 20;
constexpr uint64_t kBodyBytesMax = uint64_t{4} << 30;

absl::Status Gone() { return Aborted("The process that partitions programs ended."); }

// Waits until the socket can be read or written.
absl::Status Await(int socket, short events, absl::Time deadline) {
  for (;;) {
    const int64_t left = std::clamp<int64_t>(absl::ToInt64Milliseconds(deadline - absl::Now()), 0, 1 << 30);
    pollfd waited = {.fd = socket, .events = events, .revents = 0};
    const int ready = poll(&waited, 1, static_cast<int>(left));
    if (ready > 0) return absl::OkStatus();
    if (ready == 0) return DeadlineExceeded("The process that partitions programs did not answer in time.");
    if (errno != EINTR) return Gone();
  }
}

// Moves all bytes by `move`, a send or recv of a part of them.
template <typename Move>
absl::Status MoveAll(int socket, short events, size_t size, absl::Time deadline, Move move) {
  for (size_t done = 0; done < size;) {
    RETURN_IF_ERROR(Await(socket, events, deadline));
    const ssize_t moved = move(done, std::min<size_t>(size - done, 1 << 20));
    if (moved > 0) done += static_cast<size_t>(moved);
    else if (moved == 0 || (errno != EINTR && errno != EAGAIN)) return Gone();
  }
  return absl::OkStatus();
}

absl::Status Send(int socket, std::string_view bytes, absl::Time deadline) {
  return MoveAll(socket, POLLOUT, bytes.size(), deadline, [&](size_t at, size_t size) {
    return send(socket, bytes.data() + at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

absl::Status Receive(int socket, char* to, size_t size, absl::Time deadline) {
  return MoveAll(socket, POLLIN, size, deadline,
                 [&](size_t at, size_t part) { return recv(socket, to + at, part, MSG_DONTWAIT); });
}

template <typename Number>
void AppendLittleEndian(Number number, std::string& out) {
  for (size_t byte = 0; byte < sizeof(Number); ++byte) out.push_back(static_cast<char>(number >> (8 * byte)));
}

uint64_t LittleEndian(const char* bytes, size_t size) {
  uint64_t number = 0;
  for (size_t byte = 0; byte < size; ++byte)
    number |= uint64_t{static_cast<unsigned char>(bytes[byte])} << (8 * byte);
  return number;
}

}  // namespace

absl::Status WriteFrame(int socket, const Frame& frame, absl::Time deadline) {
  // Names may come from a command line or a module, in any encoding.
  const std::string header = frame.header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string head;
  AppendLittleEndian(static_cast<uint32_t>(header.size()), head);
  AppendLittleEndian(static_cast<uint64_t>(frame.body.size()), head);
  RETURN_IF_ERROR(Send(socket, head + header, deadline));
  return Send(socket, frame.body, deadline);
}

absl::StatusOr<Frame> ReadFrame(int socket, absl::Time deadline) {
  char head[12];
  RETURN_IF_ERROR(Receive(socket, head, sizeof(head), deadline));
  const uint64_t header_bytes = LittleEndian(head, 4), body_bytes = LittleEndian(head + 4, 8);
  if (header_bytes > kHeaderBytesMax || body_bytes > kBodyBytesMax)
    return DataLoss(
        "The process that partitions programs sent a frame with a header of %d and a body of %d bytes.",
        header_bytes, body_bytes);
  std::string header(header_bytes, '\0');
  Frame frame;
  RETURN_IF_ERROR(Receive(socket, header.data(), header.size(), deadline));
  frame.body.resize(body_bytes);
  RETURN_IF_ERROR(Receive(socket, frame.body.data(), frame.body.size(), deadline));
  frame.header = nlohmann::json::parse(header, nullptr, /*allow_exceptions=*/false);
  if (!frame.header.is_object())
    return DataLoss("The process that partitions programs sent a header that is not a JSON object.");
  return frame;
}

}  // namespace hlod::partition
