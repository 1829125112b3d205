// One thread reads packets of both devices, decides when they arrive, and writes them when that time has
// come.
#include "tests/integration/network/link.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "absl/time/clock.h"

namespace hlod::network {
namespace {

constexpr Direction kDirections[] = {Direction::kToDaemon, Direction::kToClient};
constexpr int kReadsAtOnce = 64;  // Packets of one direction before the other one's turn.

}  // namespace

Link::Link(const Namespace& there, const std::string& name, const std::string& near, const std::string& far)
    : near_(nullptr, name, near), far_(&there, name, far), wake_(eventfd(0, EFD_CLOEXEC)) {
  carrier_ = std::thread([this] { Carry(); });
}

Link::~Link() {
  ending_ = true;
  eventfd_write(wake_.get(), 1);
  carrier_.join();
}

void Link::Set(const Conditions& conditions) {
  absl::MutexLock lock(&mu_);
  conditions_ = conditions;
}

void Link::Drop(Direction direction, bool drop) {
  absl::MutexLock lock(&mu_);
  ways_[Index(direction)].drop = drop;
}

void Link::DropAll(bool drop) {
  for (const Direction direction : kDirections) Drop(direction, drop);
}

void Link::Hold(bool hold) {
  absl::MutexLock lock(&mu_);
  hold_ = hold;
  if (hold) return;
  for (const Direction direction : kDirections) {
    for (std::string& packet : ways_[Index(direction)].held) Send(direction, std::move(packet));
    ways_[Index(direction)].held.clear();
  }
  eventfd_write(wake_.get(), 1);
}

void Link::Forget(bool reset) {
  absl::MutexLock lock(&mu_);
  known_.clear();
  reset_ = reset;
}

void Link::Carry() {
  absl::Time next = absl::InfiniteFuture();
  while (!ending_) {
    pollfd polled[] = {{near_.fd(), POLLIN, 0}, {far_.fd(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    const timespec time =
        absl::ToTimespec(std::clamp(next - absl::Now(), absl::ZeroDuration(), absl::Hours(1)));
    ppoll(polled, 3, &time, nullptr);
    if (eventfd_t value = 0; polled[2].revents != 0) eventfd_read(wake_.get(), &value);
    for (const Direction direction : kDirections) {
      if (polled[Index(direction)].revents == 0) continue;
      for (int i = 0; i < kReadsAtOnce && ReadOne(direction); ++i) {
      }
    }
    absl::MutexLock lock(&mu_);
    next = WriteDue();
  }
}

bool Link::ReadOne(Direction direction) {
  char bytes[1 << 16];
  const ssize_t n = read(direction == Direction::kToDaemon ? near_.fd() : far_.fd(), bytes, sizeof(bytes));
  if (n <= 0) return false;
  absl::MutexLock lock(&mu_);
  Judge(direction, std::string(bytes, static_cast<size_t>(n)));
  return true;
}

bool Link::IsKnown(Direction direction, const Segment& segment) {
  const Ports ports = direction == Direction::kToDaemon
                          ? Ports{segment.source_port, segment.destination_port}
                          : Ports{segment.destination_port, segment.source_port};
  if (direction == Direction::kToDaemon && segment.syn && !segment.ack) known_.insert(ports);
  return known_.contains(ports);
}

void Link::Judge(Direction direction, std::string packet) {
  const std::optional<Segment> segment = ParseSegment(packet);
  Way& way = ways_[Index(direction)];
  if (!segment.has_value() || way.drop || std::bernoulli_distribution(conditions_.loss)(random_)) {
    ++vanished_;
  } else if (!IsKnown(direction, *segment)) {
    ++vanished_;
    const Direction back = direction == Direction::kToDaemon ? Direction::kToClient : Direction::kToDaemon;
    if (reset_ && !segment->rst) Send(back, ResetOf(packet, *segment));
  } else if (hold_) {
    way.held.push_back(std::move(packet));
  } else {
    Send(direction, std::move(packet));
  }
}

void Link::Send(Direction direction, std::string packet) {
  Way& way = ways_[Index(direction)];
  const absl::Time now = absl::Now();
  absl::Time leaves = std::max(now, way.free);
  if (conditions_.bytes_per_second > 0) {
    if (leaves - now > conditions_.queue) {
      ++vanished_;
      return;
    }
    leaves +=
        absl::Seconds(static_cast<double>(packet.size()) / static_cast<double>(conditions_.bytes_per_second));
    way.free = leaves;
  }
  const double jitter = std::uniform_real_distribution<>(0, 1)(random_);
  way.under_way.push(
      {leaves + conditions_.delay + jitter * conditions_.jitter, ++number_, std::move(packet)});
}

absl::Time Link::WriteDue() {
  absl::Time next = absl::InfiniteFuture();
  const absl::Time now = absl::Now();
  for (const Direction direction : kDirections) {
    std::priority_queue<Packet>& packets = ways_[Index(direction)].under_way;
    for (; !packets.empty() && packets.top().due <= now; packets.pop()) Write(direction, packets.top().bytes);
    if (!packets.empty()) next = std::min(next, packets.top().due);
  }
  return next;
}

void Link::Write(Direction direction, const std::string& packet) {
  // A device that is down, or whose queue is full, loses the packet like a real one.
  const bool written = write(Sink(direction), packet.data(), packet.size()) >= 0;
  ++(written ? carried_ : vanished_);
}

}  // namespace hlod::network
