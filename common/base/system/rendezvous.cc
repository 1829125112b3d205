// The rendezvous of participants: one table per meeting group, and the detection of deadlocks.
#include "common/base/system/rendezvous.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"

namespace hlod {
namespace {

constexpr std::chrono::milliseconds kBetweenStops(5);

// Runs `work`, and converts exceptions to errors: the other participants wait until the work returns, so an
// exception must not escape.
absl::Status Done(Rendezvous::Work work, absl::Span<void* const> brought) {
  try {
    return work(brought);
  } catch (const std::exception& e) {  // For example bad_alloc.
    return ExceptionError("The group's work failed", e);
  }
}

}  // namespace

Rendezvous::Rendezvous(std::vector<std::string> names, const Elsewhere* elsewhere)
    : names_(std::move(names)),
      elsewhere_(elsewhere),
      absent_(names_.size(), false),
      waits_at_(names_.size(), nullptr) {
  for (size_t m = 0; elsewhere != nullptr && m < names_.size(); ++m)
    absent_[m] = !elsewhere->IsHere(static_cast<int>(m));
}

absl::Status Rendezvous::cause() const {
  const MutexLock lock(&mu_);
  return cause_;
}

std::string Rendezvous::context() const {
  const MutexLock lock(&mu_);
  return context_;
}

void Rendezvous::Fail(absl::Status cause, std::string context) {
  if (cause_.ok()) {
    cause_ = std::move(cause);
    context_ = std::move(context);
  }
  changed_.SignalAll();
}

absl::Status Rendezvous::Released() const {
  return Aborted("Another participant's run has failed: %s", Annotate(cause_, context_).message());
}

Rendezvous::Table& Rendezvous::TableOf(const void* place, std::string_view what,
                                       absl::Span<const int> group) {
  for (Table& table : tables_) {
    if (table.missing > 0 && table.place == place && absl::MakeConstSpan(table.group) == group) return table;
  }
  Table& table = tables_.emplace_back();
  table.place = place;
  table.what = std::string(what);
  table.group.assign(group.begin(), group.end());
  table.brought.resize(group.size(), nullptr);
  table.missing = group.size();
  return table;
}

void Rendezvous::CheckProgress() {
  bool all_wait = true, any_waits = false;
  for (size_t m = 0; m < names_.size(); ++m) {
    any_waits = any_waits || waits_at_[m] != nullptr;
    all_wait = all_wait && (absent_[m] || (waits_at_[m] != nullptr && waits_at_[m]->missing > 0));
  }
  for (const Table& table : tables_) {
    if (table.missing == 0) continue;
    for (size_t i = 0; i < table.group.size(); ++i) {
      const auto absent = static_cast<size_t>(table.group[i]);
      if (table.brought[i] != nullptr || !absent_[absent]) continue;
      return Fail(
          FailedPrecondition("%s has ended, and others wait for it at %s.", names_[absent], table.what),
          "meeting the others.");
    }
  }
  if (!all_wait || !any_waits) return;
  // No awaited participant has left, so they wait for each other at different places.
  const auto first = std::ranges::find_if(waits_at_, [](const Table* at) { return at != nullptr; });
  const auto other = std::find_if(
      first, waits_at_.end(), [&](const Table* at) { return at != nullptr && at->place != (*first)->place; });
  if (other == waits_at_.end()) return;
  Fail(FailedPrecondition("The participants wait for each other at different places: %s at %s, %s at %s.",
                          names_[static_cast<size_t>(first - waits_at_.begin())], (*first)->what,
                          names_[static_cast<size_t>(other - waits_at_.begin())], (*other)->what),
       "meeting each other.");
}

absl::Status Rendezvous::Meet(int participant, const void* place, std::string_view what,
                              absl::Span<const int> group, void* brought, Stop stop, Work work) {
  const auto own = static_cast<size_t>(participant);
  const MutexLock lock(&mu_);
  if (!cause_.ok()) return Released();
  Table& table = TableOf(place, what, group);
  const auto position = std::ranges::find(table.group, participant) - table.group.begin();
  table.brought[static_cast<size_t>(position)] = brought;
  ++table.leaving;
  if (--table.missing == 0) {
    // The work runs without the lock, so that other groups can meet meanwhile.
    mu_.Unlock();
    absl::Status result = Done(work, table.brought);
    mu_.Lock();
    table.result = std::move(result);
    table.over = true;
    changed_.SignalAll();
  } else {
    waits_at_[own] = &table;
    CheckProgress();
    while (!table.over) {
      // When the group is complete, its work reads this participant's contribution, so this one must stay.
      const bool may_go = table.missing > 0;
      if (may_go && !cause_.ok()) break;
      if (absl::Status why = may_go ? stop() : absl::OkStatus(); !why.ok()) {
        waits_at_[own] = nullptr;
        Fail(why, absl::StrFormat("%s waited at %s.", names_[own], std::string(what)));
        return why;
      }
      changed_.WaitFor(&mu_, kBetweenStops);
    }
    waits_at_[own] = nullptr;
  }
  // After a failure no further participant arrives; the table is kept until the Rendezvous is destroyed.
  if (!table.over) return Released();
  absl::Status result = table.result;
  if (--table.leaving == 0) tables_.remove_if([&table](const Table& other) { return &other == &table; });
  return result;
}

void Rendezvous::Leave(int participant, const absl::Status& status) {
  const auto own = static_cast<size_t>(participant);
  const MutexLock lock(&mu_);
  absent_[own] = true;
  if (!status.ok()) return Fail(status, absl::StrCat("running ", names_[own], "."));
  CheckProgress();
}

}  // namespace hlod
