// Namespaces by unshare and setns, which act on one thread; devices by ioctl.
#include "tests/integration/network/namespaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

namespace hlod::network {
namespace {

constexpr char kTun[] = "/dev/net/tun";

void CheckErrno(bool holds, const char* what) {
  if (holds) return;
  std::perror(what);
  std::abort();
}

// Calls `f` in a thread of its own in a namespace; null: that of this thread.
void CallIn(const Namespace* where, const std::function<void()>& f) {
  std::thread([&] {
    if (where != nullptr) CheckErrno(setns(where->fd(), CLONE_NEWNET) == 0, "setns");
    f();
  }).join();
}

ifreq Request(const std::string& name) {
  ifreq request = {};
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  return request;
}

void SetAddress(int control, const std::string& name, unsigned long what, const std::string& address) {
  ifreq request = Request(name);
  auto* const inet = reinterpret_cast<sockaddr_in*>(&request.ifr_addr);
  inet->sin_family = AF_INET;
  inet_pton(AF_INET, address.c_str(), &inet->sin_addr);
  CheckErrno(ioctl(control, what, &request) == 0, "the address of a device");
}

}  // namespace

std::string EnterOwnNamespace() {
  if (access(kTun, R_OK | W_OK) != 0) return std::string(kTun) + ": " + std::strerror(errno);
  if (unshare(CLONE_NEWNET) != 0) return std::string("no network namespace: ") + std::strerror(errno);
  const rpc::Descriptor tun(open(kTun, O_RDWR | O_CLOEXEC));
  ifreq request = Request("probe");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (!tun.valid() || ioctl(tun.get(), TUNSETIFF, &request) != 0)
    return std::string("no TUN device: ") + std::strerror(errno);
  return "";
}

Namespace::Namespace() {
  CallIn(nullptr, [this] {
    CheckErrno(unshare(CLONE_NEWNET) == 0, "unshare");
    fd_ = rpc::Descriptor(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    CheckErrno(fd_.valid(), "a network namespace");
  });
}

std::string Namespace::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_.get());
}

TunDevice::TunDevice(const Namespace* where, const std::string& name, const std::string& address)
    : name_(name) {
  CallIn(where, [&] {
    tun_ = rpc::Descriptor(open(kTun, O_RDWR | O_CLOEXEC | O_NONBLOCK));
    ifreq request = Request(name);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    CheckErrno(tun_.valid() && ioctl(tun_.get(), TUNSETIFF, &request) == 0, kTun);
    control_ = rpc::Descriptor(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  });
  SetAddress(control_.get(), name, SIOCSIFADDR, address);
  SetAddress(control_.get(), name, SIOCSIFNETMASK, "255.255.255.0");
  SetUp(true);
}

void TunDevice::SetUp(bool up) {
  ifreq request = Request(name_);
  CheckErrno(ioctl(control_.get(), SIOCGIFFLAGS, &request) == 0, "the flags of a device");
  request.ifr_flags = static_cast<int16_t>(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  CheckErrno(ioctl(control_.get(), SIOCSIFFLAGS, &request) == 0, "the state of a device");
}

void RunInNamespace(const char* path, char** words) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  CheckErrno(fd >= 0 && setns(fd, CLONE_NEWNET) == 0, path);
  execv(words[0], words);
  std::perror(words[0]);
  _exit(127);
}

}  // namespace hlod::network
