// Adds up the figures of accounts.
#include "server/device/ledger/ledger.h"

#include <algorithm>
#include <tuple>

#include "absl/cleanup/cleanup.h"

namespace hlod::device {
namespace {

// A hash table is up to half empty, and a node of a tree has three pointers.
constexpr int64_t kTableFactor = 2;

int64_t BytesOf(const CompileRow& row) {
  size_t bytes = sizeof(row) + row.program.size() + row.reason_text.size();
  for (const std::string& step : row.slow_steps) bytes += sizeof(step) + step.size();
  return static_cast<int64_t>(bytes);
}

std::vector<Row> ListOf(const absl::flat_hash_map<RowKey, Amount>& rows) {
  std::vector<Row> list;
  list.reserve(rows.size());
  for (const auto& [key, amount] : rows) list.push_back({key, amount});
  return list;
}

void SortRows(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.amount.bytes != b.amount.bytes) return a.amount.bytes > b.amount.bytes;
    if (a.key.step != b.key.step) return a.key.step < b.key.step;
    if (a.key.origin != b.key.origin) return a.key.origin < b.key.origin;
    if (a.key.device != b.key.device) return a.key.device < b.key.device;
    return a.key.cause < b.key.cause;
  });
}

void SortRuns(std::vector<RunRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const RunRow& a, const RunRow& b) {
    if (a.figures.run.sum_us != b.figures.run.sum_us) return a.figures.run.sum_us > b.figures.run.sum_us;
    return std::tie(a.digest, a.key.step, a.key.origin, a.key.device) <
           std::tie(b.digest, b.key.step, b.key.origin, b.key.device);
  });
}

// Adds a compile to the row of its outcome.
void AddTo(CompileRow (&others)[kCompileOutcomes], const CompileRow& row) {
  CompileRow& sum = others[static_cast<int>(row.outcome)];
  if (!sum.others) sum.count = 0;
  sum.others = true;
  sum.outcome = row.outcome;
  sum.count += row.count;
  sum.compile_us += row.compile_us;
}

void AppendOthers(const CompileRow (&others)[kCompileOutcomes], std::vector<CompileRow>& rows) {
  for (const CompileRow& row : others) {
    if (row.others) rows.push_back(row);
  }
}

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) name = SaturatedSum(name, other.name);
#include "common/base/stats.inc"
  return *this;
}

void Account::AddTotals(const Account& other) {
  for (int i = 0; i < kDirections; ++i) directions[i] += other.directions[i];
  counters += other.counters;
}

void SessionLedger::Record(const RowKey& key, int64_t bytes, int64_t calls) {
  const Amount amount{bytes, calls};
  MutexLock lock(&mu_);
  AddToRow(key, amount);  // It may find no memory: then neither sum has the bytes.
  directions_[static_cast<int>(DirectionOf(key.cause))] += amount;
}

void SessionLedger::RecordPrefetch(uint64_t command, const RowKey& key, int64_t bytes) {
  const Amount amount{bytes, 1};
  MutexLock lock(&mu_);
  prefetches_.push_back({command, key, bytes});
  absl::Cleanup take_back = [this] {
    mu_.AssertHeld();
    prefetches_.pop_back();
  };
  prefetches_.back().row = AddToRow(key, amount);
  std::move(take_back).Cancel();
  directions_[static_cast<int>(DirectionOf(key.cause))] += amount;
  if (prefetches_.size() > kPrefetchesMax) {
    prefetches_.pop_front();
  } else {
    held_.Grow(sizeof(Prefetch));
  }
}

void SessionLedger::RecordRead(uint64_t command, RowKey read) {
  MutexLock lock(&mu_);
  // Most are read in their order, and soon.
  const auto found = std::find_if(prefetches_.begin(), prefetches_.end(),
                                  [&](const Prefetch& prefetch) { return prefetch.command == command; });
  if (found == prefetches_.end()) return;
  const Prefetch prefetch = *found;
  read.device = prefetch.row.device;
  AddToRow(read, {prefetch.bytes, 1});
  prefetches_.erase(found);
  int64_t freed = sizeof(Prefetch);
  const auto row = rows_.find(prefetch.row);
  row->second += Amount{-prefetch.bytes, -1};
  if (row->second == Amount{}) {
    freed += kTableFactor * static_cast<int64_t>(sizeof(*row));
    rows_.erase(row);
  }
  held_.Grow(-freed);
}

RowKey SessionLedger::AddToRow(const RowKey& key, const Amount& amount) {
  RowKey kept = key;
  if (rows_.size() >= kRowsMax && !rows_.contains(kept)) {
    kept.step = 0;
    kept.other_steps = true;
  }
  if (rows_.size() >= 2 * kRowsMax && !rows_.contains(kept)) {
    kept.origin = 0;
    kept.other_lines = true;
  }
  const auto [row, is_new] = rows_.try_emplace(kept);
  row->second += amount;
  if (is_new) held_.Grow(kTableFactor * static_cast<int64_t>(sizeof(*row)));
  return kept;
}

void SessionLedger::RecordRun(RunKey key, const Digest& digest, const std::string& program,
                              const RunSample& times, int64_t peak_bytes) {
  MutexLock lock(&mu_);
  if (samples_.size() < kSamplesMax) samples_.push_back(times);
  else samples_[next_sample_] = times;
  next_sample_ = (next_sample_ + 1) % kSamplesMax;
  const auto known = program_numbers_.find(digest);
  const bool full = runs_.size() >= 2 * kRunRowsMax;
  if (known != program_numbers_.end()) {
    key.program = known->second;
  } else if (!full) {
    key.program = static_cast<uint32_t>(programs_.size());
    programs_.emplace_back(digest, program);
    absl::Cleanup take_back = [this] {
      mu_.AssertHeld();
      programs_.pop_back();
    };
    program_numbers_.emplace(digest, key.program);
    std::move(take_back).Cancel();
    held_.Grow(kTableFactor *
                   static_cast<int64_t>(sizeof(programs_.back()) + sizeof(*program_numbers_.begin())) +
               static_cast<int64_t>(program.size()));
  }
  const bool is_new = known == program_numbers_.end();
  if (runs_.size() >= kRunRowsMax && (is_new || !runs_.contains(key))) {
    key.step = 0;
    key.other_steps = true;
  }
  if (full && (is_new || !runs_.contains(key)))
    key = {.device = key.device, .other_steps = true, .other_programs = true};
  const auto [run, is_first] = runs_.try_emplace(key);
  if (is_first) held_.Grow(kTableFactor * static_cast<int64_t>(sizeof(*run)));
  run->second.Add({1, Distribution::Of(times.queue_us), Distribution::Of(times.run_us), peak_bytes,
                   times.network_us, times.network_bytes});
  ++counters_.executes;
  counters_.execute_us += times.run_us;
  counters_.queue_us += times.queue_us;
  counters_.network_us = SaturatedSum(counters_.network_us, times.network_us);
}

void SessionLedger::RecordCompile(CompileRow row) {
  MutexLock lock(&mu_);
  switch (row.outcome) {
    case CompileOutcome::kCompiled: ++counters_.compiles; break;
    case CompileOutcome::kCached: ++counters_.compile_cache_hits; break;
    case CompileOutcome::kPersistent: ++counters_.persistent_cache_hits; break;
  }
  counters_.compile_us += row.compile_us;
  held_.Grow(BytesOf(row));
  compiles_.push_front(std::move(row));
  if (compiles_.size() <= kCompileRowsMax) return;
  held_.Grow(-BytesOf(compiles_.back()));
  AddTo(other_compiles_, compiles_.back());
  compiles_.pop_back();
}

void SessionLedger::FillRuns(Account& account) const {
  for (const auto& [key, figures] : runs_) {
    RunRow& row = account.runs.emplace_back(RunRow{key, {}, "", figures});
    if (!key.other_programs) std::tie(row.digest, row.program) = programs_[key.program];
  }
  account.compiles.assign(compiles_.begin(), compiles_.end());
  AppendOthers(other_compiles_, account.compiles);
  account.samples = samples_;
  if (samples_.size() == kSamplesMax)
    std::rotate(account.samples.begin(), account.samples.begin() + static_cast<ptrdiff_t>(next_sample_),
                account.samples.end());
}

void SessionLedger::Count(int64_t Counters::* counter, int64_t amount) {
  MutexLock lock(&mu_);
  counters_.*counter += amount;
}

Account SessionLedger::account(Detail detail) const {
  Account account;
  {
    MutexLock lock(&mu_);
    std::copy(std::begin(directions_), std::end(directions_), account.directions);
    account.counters = counters_;
    account.rows = ListOf(rows_);
    if (detail == Detail::kAll) FillRuns(account);
  }
  // Sorted without the lock: sorting takes milliseconds, and the session's next execute waits for the lock.
  SortRows(account.rows);
  SortRuns(account.runs);
  return account;
}

void Ledger::FoldTotals(const Account& ended) {
  MutexLock lock(&mu_);
  totals_.AddTotals(ended);
}

void Ledger::FoldRows(const Account& ended) {
  MutexLock lock(&mu_);
  for (const Row& row : ended.rows)
    rows_[{row.key.device, row.key.cause, 0, 0, /*other_steps=*/true, /*other_lines=*/true}] += row.amount;
  for (const RunRow& row : ended.runs) {
    const auto key = std::make_pair(row.key.device, row.digest);
    const bool kept =
        !row.key.other_programs && (runs_.contains(key) || runs_.size() < SessionLedger::kRunRowsMax);
    if (!kept) {
      other_runs_[row.key.device].Add(row.figures);
      continue;
    }
    Program& program = runs_[key];
    program.name = row.program;
    program.figures.Add(row.figures);
  }
  for (const CompileRow& row : ended.compiles) AddTo(compiles_, row);
}

Account Ledger::ended() const {
  MutexLock lock(&mu_);
  Account account = totals_;
  account.rows = ListOf(rows_);
  SortRows(account.rows);
  for (const auto& [key, program] : runs_) {
    account.runs.push_back(
        {{.device = key.first, .other_steps = true}, key.second, program.name, program.figures});
  }
  for (const auto& [device, figures] : other_runs_)
    account.runs.push_back(
        {{.device = device, .other_steps = true, .other_programs = true}, {}, "", figures});
  SortRuns(account.runs);
  AppendOthers(compiles_, account.compiles);
  return account;
}

}  // namespace hlod::device
