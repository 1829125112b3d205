// Collects first writes and last reads in one pass over the ops, then converts them to segments by each
// value's role.
#include "server/engine/plan/assignment/buffer_assignment_liveness.h"

#include <algorithm>

namespace hlod::engine {
namespace {

constexpr int32_t kNever = -2;

// Positions of ops.
struct Uses {
  int32_t written = kNever;
  int32_t last_read = kNever;        // In the value's home loop, or for a state its own loop.
  int32_t last_read_after = kNever;  // After its loop; for states only.
};

class Liveness {
 public:
  explicit Liveness(const FlatProgram& program) : program_(program), uses_(program.values.size()) {}

  std::vector<Segments> Compute() {
    for (ValueId argument : program_.argument_values) uses_[argument].written = -1;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const Op& op = program_.ops[i];
      for (ValueId value : op.inputs) Read(value, static_cast<int32_t>(i), op.loop);
      for (ValueId value : op.outputs) {
        int32_t& written = uses_[value].written;
        if (written == kNever) written = static_cast<int32_t>(i);
      }
    }
    std::vector<Segments> segments(program_.values.size());
    for (size_t v = 0; v < segments.size(); ++v) segments[v] = SegmentsOf(program_.values[v], uses_[v]);
    return segments;
  }

 private:
  // Returns true when `loop` is `outer` or is nested in it.
  bool IsIn(int32_t loop, int32_t outer) const {
    while (loop != outer && loop != kNone) loop = program_.loops[loop].parent;
    return loop == outer;
  }

  void Read(ValueId value, int32_t op, int32_t loop) {
    const Value& info = program_.values[value];
    const bool after = info.role == Value::Role::kState && !IsIn(loop, info.owner);
    const int32_t home = after ? program_.loops[info.owner].parent : info.home;
    int32_t until = op;
    for (; loop != home && loop != kNone; loop = program_.loops[loop].parent)
      until = program_.loops[loop].exit;
    int32_t& last = after ? uses_[value].last_read_after : uses_[value].last_read;
    last = std::max(last, until);
  }

  Segments SegmentsOf(const Value& value, const Uses& uses) const {
    Segments segments;
    if (uses.written == kNever) return segments;
    const auto add = [&](int32_t from, int32_t to) {
      AddSegments(segments, {{TimeOf(from), std::max(TimeOf(to), TimeOf(from) + 1)}});
    };
    switch (value.role) {
      case Value::Role::kPlain: add(uses.written, uses.last_read); break;
      case Value::Role::kState: {
        const Loop& loop = program_.loops[value.owner];
        add(loop.begin, std::max(loop.test, uses.last_read));
        add(loop.back, loop.back);
        if (uses.last_read_after != kNever) add(loop.exit, uses.last_read_after);
        break;
      }
      case Value::Role::kJoin: {
        const Switch& branches = program_.switches[value.owner];
        for (size_t b = 0; b < branches.branches.size(); ++b) {
          const int32_t end =
              (b + 1 < branches.branches.size() ? branches.branches[b + 1] : branches.end) - 1;
          add(end, end);
        }
        if (uses.last_read != kNever) add(branches.end, uses.last_read);
        break;
      }
    }
    return segments;
  }

  const FlatProgram& program_;
  std::vector<Uses> uses_;
};

}  // namespace

std::vector<Segments> ComputeLiveness(const FlatProgram& program) { return Liveness(program).Compute(); }

void AddSegments(Segments& into, const Segments& segments) {
  for (const Segment& segment : segments) {
    auto at = std::lower_bound(into.begin(), into.end(), segment.start,
                               [](const Segment& s, int32_t start) { return s.end + 1 < start; });
    if (at == into.end() || segment.end + 1 < at->start) {
      into.insert(at, segment);
      continue;
    }
    at->start = std::min(at->start, segment.start);
    at->end = std::max(at->end, segment.end);
    const auto next = at + 1;
    auto last = next;
    for (; last != into.end() && last->start <= at->end + 1; ++last) at->end = std::max(at->end, last->end);
    into.erase(next, last);
  }
}

}  // namespace hlod::engine
