// Walks the computations as a run does, with a stack of its own.
#include "client/analysis/module/memory/spans.h"

#include <algorithm>

namespace hlod::analysis {
namespace {

// A computation that several instructions run is followed at each of them, up to this many positions in all.
constexpr int64_t kPositionsMax = int64_t{1} << 22;

// A run of one computation.
struct Run {
  const Lives* lives = nullptr;
  size_t at = 0;      // The position that runs.
  size_t called = 0;  // The number of its callees that have run.
  std::vector<Ticks> ticks;

  explicit Run(const Lives& of) : lives(&of), ticks(of.schedule().order.size()) {}
  hlo::Instruction instruction() const {
    return lives->placement().computation()[lives->schedule().order[at]];
  }
};

class SpanWalk {
 public:
  SpanWalk(const std::vector<const Lives*>& lives, const std::vector<int64_t>& needs)
      : lives_(lives), needs_(needs) {}

  Timeline Follow() {
    const Lives& entry = *lives_.back();
    timeline_.results.resize(entry.placement().value(entry.placement().computation().root_id()).size());
    Begin(entry);
    while (!stack_.empty()) Step();
    return std::move(timeline_);
  }

 private:
  void Begin(const Lives& lives) {
    positions_ += static_cast<int64_t>(lives.schedule().order.size());
    stack_.emplace_back(lives);
  }

  void Step() {
    Run& run = stack_.back();
    if (run.at == run.ticks.size()) return End();
    if (run.called == 0) run.ticks[run.at].first = now_++;
    const hlo::Instruction i = run.instruction();
    if (RunsOthers(i.opcode()) && run.called < i.called().size()) {
      const hlo::ComputationId callee = i.called()[run.called++];
      const auto size = static_cast<int64_t>(lives_[callee]->schedule().order.size());
      if (positions_ + size <= kPositionsMax) return Begin(*lives_[callee]);
      timeline_.temporaries.push_back({{now_, now_}, needs_[callee]});
      ++now_;
      return;
    }
    run.ticks[run.at].last = now_;
    now_ += 2;  // A result that takes over its operand's memory begins between.
    run.called = 0;
    ++run.at;
  }

  void End() {
    const Run& run = stack_.back();
    const bool is_entry = stack_.size() == 1;
    for (size_t id = 0; id < run.lives->all().size(); ++id) {
      const Life& life = run.lives->all()[id];
      if (life.bytes == 0 || (life.caller && !is_entry)) continue;
      const Ticks made = run.ticks[life.made];
      const int64_t first = life.in_place ? made.last + 1 : made.first;
      const int64_t last = life.last_use < run.ticks.size() ? run.ticks[life.last_use].last : now_;
      const Ticks ticks = {first, std::max(first, last)};
      if (life.caller) timeline_.results[static_cast<size_t>(life.result)].push_back(ticks);
      else timeline_.temporaries.push_back({ticks, life.bytes, run.lives, id});
    }
    if (is_entry) timeline_.entry = run.ticks;
    stack_.pop_back();
  }

  const std::vector<const Lives*>& lives_;
  const std::vector<int64_t>& needs_;
  std::vector<Run> stack_;
  Timeline timeline_;
  int64_t now_ = 0, positions_ = 0;
};

}  // namespace

Timeline TimelineOf(const std::vector<const Lives*>& lives, const std::vector<int64_t>& needs) {
  return SpanWalk(lives, needs).Follow();
}

}  // namespace hlod::analysis
