// Both ends of such a connection are sockets of the same kernel, which finds the other end by its addresses
// (NETLINK_SOCK_DIAG, sock_diag(7)), and reports the user of any socket to all users.
#include "server/grpc/local_peer.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>

#include "common/rpc/shared_memory.h"

namespace hlod::grpc_server {
namespace {

// An address in the format of the kernel's request: network order, IPv4 in the first of four words.
struct Address {
  uint16_t port = 0;
  uint32_t words[4] = {};
  sa_family_t family = AF_UNSPEC;
};

using NameOf = int (*)(int, sockaddr*, socklen_t*);

// Returns the address of one end; nullopt if it is not on the loopback interface.
std::optional<Address> LoopbackAddress(int socket, NameOf name_of) {
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  if (name_of(socket, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return std::nullopt;
  Address address;
  address.family = storage.ss_family;
  if (storage.ss_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &storage, sizeof(v4));
    if (ntohl(v4.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET) return std::nullopt;
    address.port = v4.sin_port;
    address.words[0] = v4.sin_addr.s_addr;
    return address;
  }
  if (storage.ss_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6;
  std::memcpy(&v6, &storage, sizeof(v6));
  const bool mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && v6.sin6_addr.s6_addr[12] == IN_LOOPBACKNET;
  if (!mapped && !IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) return std::nullopt;
  address.port = v6.sin6_port;
  if (mapped) {  // The other end may be an IPv4 socket.
    address.family = AF_INET;
    std::memcpy(address.words, v6.sin6_addr.s6_addr + 12, 4);
  } else {
    std::memcpy(address.words, &v6.sin6_addr, sizeof(address.words));
  }
  return address;
}

}  // namespace

std::optional<uint32_t> UserOfLocalPeer(int socket) {
  const std::optional<Address> here = LoopbackAddress(socket, getsockname),
                               there = LoopbackAddress(socket, getpeername);
  if (!here.has_value() || !there.has_value() || here->family != there->family) return std::nullopt;
  const rpc::Descriptor kernel(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!kernel.valid()) return std::nullopt;
  struct {
    nlmsghdr head{};
    inet_diag_req_v2 body{};
  } question;
  question.head.nlmsg_len = sizeof(question);
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.body.sdiag_family = static_cast<uint8_t>(here->family);
  question.body.sdiag_protocol = IPPROTO_TCP;
  question.body.idiag_states = ~0u;
  inet_diag_sockid& id = question.body.id;  // The other end's id: its source is our peer.
  id.idiag_sport = there->port;
  id.idiag_dport = here->port;
  std::memcpy(id.idiag_src, there->words, sizeof(there->words));
  std::memcpy(id.idiag_dst, here->words, sizeof(here->words));
  id.idiag_cookie[0] = id.idiag_cookie[1] = static_cast<uint32_t>(INET_DIAG_NOCOOKIE);
  if (send(kernel.get(), &question, sizeof(question), 0) != sizeof(question)) return std::nullopt;
  alignas(nlmsghdr) char answer[4096];  // The kernel has already answered.
  const ssize_t n = recv(kernel.get(), answer, sizeof(answer), MSG_DONTWAIT);
  nlmsghdr head;
  inet_diag_msg found;
  if (n < static_cast<ssize_t>(NLMSG_HDRLEN + sizeof(found))) return std::nullopt;
  std::memcpy(&head, answer, sizeof(head));
  std::memcpy(&found, answer + NLMSG_HDRLEN, sizeof(found));
  // A closing socket may be a remainder without an owner, which the kernel reports as root's.
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || found.idiag_state != TCP_ESTABLISHED) return std::nullopt;
  return found.idiag_uid;
}

}  // namespace hlod::grpc_server
