// Parses and prints the three forms of a daemon's address.
#include "common/rpc/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/numbers.h"
#include "common/base/errors/status.h"

namespace hlod::rpc {
namespace {

constexpr size_t kPathMax = sizeof(sockaddr_un{}.sun_path) - 1;

bool Consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

absl::Status Malformed(std::string_view text) {
  return InvalidArgument("Address (%s) is none of unix:PATH, /PATH, HOST:PORT, tcp:HOST:PORT, fd:NUMBER.",
                         text);
}

}  // namespace

bool Endpoint::IsLoopback() const {
  // A host name may begin with "127." too, so this parses it as an address.
  in_addr address{};
  const bool v4 = inet_pton(AF_INET, host.c_str(), &address) == 1;
  return v4 ? ntohl(address.s_addr) >> 24 == 127 : host == "localhost" || host == "::1";
}

UnixAddress ToUnixAddress(std::string_view path) {
  UnixAddress result;
  result.address.sun_family = AF_UNIX;
  const size_t length = std::min(path.size(), kPathMax);
  std::memcpy(result.address.sun_path, path.data(), length);
  result.size = sizeof(result.address);
  if (!path.starts_with('@')) return result;
  // A name's bytes end with the address, not with a zero.
  result.address.sun_path[0] = '\0';
  result.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  return result;
}

absl::StatusOr<Endpoint> ParseEndpoint(std::string_view text) {
  std::string_view rest = text;
  Endpoint endpoint;
  if (Consume(rest, "unix:") || rest.starts_with('/')) {
    endpoint.kind = Endpoint::Kind::kUnix;
    endpoint.path = std::string(rest);
    if (rest.empty() || rest == "@") return Malformed(text);
    if (rest.size() > kPathMax) {
      return InvalidArgument("Socket path (%s) is %d bytes long; the limit is %d.", rest, rest.size(),
                             kPathMax);
    }
    return endpoint;
  }
  if (Consume(rest, "fd:")) {
    endpoint.kind = Endpoint::Kind::kDescriptor;
    if (!absl::SimpleAtoi(ToAbsl(rest), &endpoint.descriptor) || endpoint.descriptor < 0)
      return Malformed(text);
    return endpoint;
  }
  Consume(rest, "tcp:");
  endpoint.kind = Endpoint::Kind::kTcp;
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return Malformed(text);
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return InvalidArgument("Address (%s) has an IPv6 host without brackets; write [HOST]:PORT.", text);
  }
  endpoint.host = std::string(host);
  if (host.empty() || !absl::SimpleAtoi(ToAbsl(rest.substr(colon + 1)), &endpoint.port))
    return Malformed(text);
  if (endpoint.port < 0 || endpoint.port > 65535) {
    return InvalidArgument("Port (%d) of address (%s) is not within 0 and 65535.", endpoint.port, text);
  }
  return endpoint;
}

std::string ToString(const Endpoint& endpoint) {
  switch (endpoint.kind) {
    case Endpoint::Kind::kUnix: return absl::StrCat("unix:", endpoint.path);
    case Endpoint::Kind::kDescriptor: return absl::StrCat("fd:", endpoint.descriptor);
    case Endpoint::Kind::kTcp: break;
  }
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  return absl::StrCat(brackets ? "[" : "", endpoint.host, brackets ? "]" : "", ":", endpoint.port);
}

std::string DefaultSocketPath(std::string_view xdg_runtime_dir) {
  if (xdg_runtime_dir.empty()) return kSystemSocketPath;
  return absl::StrCat(ToAbsl(xdg_runtime_dir), "/hlod.sock");
}

}  // namespace hlod::rpc
