// Counts what buffers hold, in the order in which they were made and released.
#include "client/pjrt/devices/held_memory.h"

#include <algorithm>
#include <utility>

namespace hlod::pjrt {

void HeldMemory::Add(const void* buffer, int64_t bytes, runtime::Command command) {
  Note({Kind::kAdd, buffer, bytes, std::move(command)});
}

void HeldMemory::Remove(const void* buffer, int64_t bytes) { Note({Kind::kRemove, buffer, bytes, nullptr}); }

void HeldMemory::Run(int64_t bytes, runtime::Command command) {
  Note({Kind::kRun, nullptr, bytes, std::move(command)});
}

HeldMemory::Figures HeldMemory::figures() {
  absl::MutexLock lock(&mu_);
  CountDone();
  return All();
}

void HeldMemory::ForgetPeak() {
  absl::MutexLock lock(&mu_);
  CountDone();
  // Events that are left raise the peak again from where they begin.
  counted_.peak = counted_.in_use;
}

bool HeldMemory::IsRefused(const Event& event) {
  return event.command != nullptr && event.command->done.load(std::memory_order_acquire) &&
         !event.command->status.ok();
}

void HeldMemory::Count(const Event& event, Figures& figures, Buffers& refused) {
  switch (event.kind) {
    case Kind::kAdd:
      if (IsRefused(event)) refused.insert(event.buffer);
      else figures.in_use += event.bytes;
      figures.peak = std::max(figures.peak, figures.in_use);
      break;
    case Kind::kRemove:
      if (refused.erase(event.buffer) == 0) figures.in_use -= event.bytes;
      break;
    case Kind::kRun:
      if (!IsRefused(event)) figures.peak = std::max(figures.peak, figures.in_use + event.bytes);
      break;
  }
}

void HeldMemory::Note(Event event) {
  absl::MutexLock lock(&mu_);
  events_.push_back(std::move(event));
  CountDone();
}

void HeldMemory::CountDone() {
  const auto is_done = [](const Event& event) {
    return event.command == nullptr || event.command->done.load(std::memory_order_acquire);
  };
  while (!events_.empty() && is_done(events_.front())) {
    Count(events_.front(), counted_, refused_);
    events_.pop_front();
  }
}

HeldMemory::Figures HeldMemory::All() const {
  Figures figures = counted_;
  Buffers refused = refused_;
  for (const Event& event : events_) Count(event, figures, refused);
  return figures;
}

}  // namespace hlod::pjrt
