// Buffer assignment by coalescing, then packing.
//
// Each value begins in a buffer of its own. Coalescing joins buffers, pair by pair, where that saves a copy
// or lets a step write over an operand. Packing then gives offsets in one arena to the buffers that lie
// neither in an argument nor in a result nor in a constant.
//
// Time. Op i happens at time 2i + 1. A value is in use from the op that writes it to the last op that reads
// it, both included (buffer_assignment_liveness.h). A buffer's segments are the union of those of its values.
//
// Two buffers may be joined when they have the same number of bytes, neither is read-only, at most one is
// fixed (in an argument or result), and their segments do not conflict. Segments that overlap for longer than
// a moment always conflict. Segments that meet in one moment do not, when one ends and the other begins there
// and the op of that moment lets the second value take over the memory of the first: a step says so by
// Step::MayShare, and a move does when it moves the first value into the second. A joined move copies
// nothing.
//
// Joins are greedy, so the costliest copies are tried first: those of every iteration of a loop, then those
// into loops, then those out of branches, then those into results, and last the operands that steps may write
// over. One join is made before them without a check, that of an argument with the result that aliases it:
// only kReturn writes the result, and it orders its copies so that what still has to be read is read first.
//
// Example: r = loop over s, from a, while s < 10: s + 1. The argument a is not donated.
//
//   op               reads  writes  time
//   0 loop begin     a      s        1    s = a (a move)
//   1 step           s      c        3    c = s < 10
//   2 loop test      c               5
//   3 step           s      t        7    t = s + 1
//   4 loop back      t      s        9    s = t (a move)
//   5 loop exit                     11
//   6 return         s      r       13    r = s (a move)
//
// Lifetimes: a [-1, 1], c [3, 5], t [7, 9], r [13, 14], and s [1, 7] and [9, 13], because between its last
// read in the body and the loop back no op needs it.
//
// Loop back: t and s meet at 7, where the step may write over its operand, and at 9, in the move itself. They
// are joined: {s, t} [1, 13], and the body now updates s in place. Loop begin: a is read-only, so the copy a
// -> s stays. Return: {s, t} and r meet at 13 only, in the move: {s, t, r} is fixed to result 0. The loop
// therefore runs in the caller's result, one copy is left, before the loop, and only c is packed into the
// arena.
//
// The moves of one op happen at once, but its copies happen one after the other (SequenceMoves). A loop that
// swaps its states x and y moves y into x and x into y: neither copy can come first. The cycle is broken by a
// scratch buffer that lives during this op only: x -> scratch, y -> x, scratch -> y.
//
// For packing a buffer is in use from its first to its last moment: the gaps between its segments serve
// joins, but are not given to other buffers. CheckAssignment (buffer_assignment_check.cc) verifies an
// assignment without knowing any of this; builds with assertions run it on every plan of moderate size.
#include "server/engine/plan/assignment/buffer_assignment.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/errors/status.h"
#include "server/engine/plan/assignment/buffer_assignment_liveness.h"
#include "server/engine/plan/assignment/buffer_assignment_packing.h"
#include "server/engine/run/code.h"

namespace hlod::engine {
namespace {

// The number of segments above which a buffer is not joined any further, and the number of operands above
// which an op allows sharing only for the requested pair. Both limits keep the work linear.
constexpr size_t kSegmentsMax = 256;
constexpr size_t kOperandsMax = 4096;

// A set of values that share memory, stored at the index of its representative.
struct Buffer {
  Segments segments;
  int64_t bytes = 0;
  BufferLocation place;
  bool fixed = false;      // True when `place` is prescribed.
  bool read_only = false;  // True for constants, and for arguments whose memory is not shared with a result.
};

class Assigner {
 public:
  Assigner(const FlatProgram& program, passes::PassWatch* watch)
      : program_(program), watch_(watch), parent_(program.values.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    std::vector<Segments> segments = ComputeLiveness(program);
    buffers_.resize(program.values.size());
    std::vector<bool> shared(program.arguments.size(), false);
    for (int argument : program.aliases) {
      if (argument >= 0) shared[argument] = true;
    }
    for (size_t v = 0; v < buffers_.size(); ++v) {
      const Value& value = program.values[v];
      buffers_[v].segments = std::move(segments[v]);
      buffers_[v].bytes = value.bytes;
      buffers_[v].fixed = value.space != Space::kTemporary;
      buffers_[v].read_only =
          value.space == Space::kConstant || (value.space == Space::kArgument && !shared[value.index]);
      if (buffers_[v].fixed) buffers_[v].place = {value.space, value.index, 0};
    }
  }

  absl::Status Coalesce();
  absl::StatusOr<Assignment> Finish();

 private:
  // Counts an op. Returns the watch's error once the compilation has to stop.
  absl::Status Look() const {
    return watch_ != nullptr && watch_->Stops() ? watch_->status() : absl::OkStatus();
  }
  ValueId Find(ValueId value) {
    while (parent_[value] != value) value = parent_[value] = parent_[parent_[value]];
    return value;
  }

  // The move of input k of op `op` into its output k.
  struct Move {
    int32_t op = kNone;
    size_t k = 0;
  };
  // Joins the buffers of two values when that is safe, and returns true when they share one afterwards.
  // `asked` is the move that the join would save, if there is one.
  bool TryJoin(ValueId a, ValueId b, Move asked);
  void Join(ValueId a, ValueId b);
  // Returns true when two buffers are in use at the same time, unless one may take over the memory of the
  // other.
  bool Conflict(ValueId a, ValueId b, Move asked);
  // Returns true when op `op` may write buffer `next` in the memory of `old`, whose last use it is.
  bool MayTakeOver(int32_t op, ValueId old, ValueId next, Move asked);

  // Returns the copies for the moves of one op, in order. If moves form a cycle, the copies use buffer
  // `scratch`, which needs `cycle_bytes` bytes; otherwise these are 0.
  std::vector<BufferCopy> SequenceMoves(const Op& op, int32_t scratch, int64_t& cycle_bytes);

  const FlatProgram& program_;
  passes::PassWatch* const watch_;  // May be null.
  std::vector<ValueId> parent_;
  std::vector<Buffer> buffers_;
};

bool Assigner::MayTakeOver(int32_t op_index, ValueId old, ValueId next, Move asked) {
  const Op& op = program_.ops[op_index];
  if (op.IsMove()) {
    if (op_index == asked.op && Find(op.outputs[asked.k]) == next) return Find(op.inputs[asked.k]) == old;
    if (op.inputs.size() > kOperandsMax) return false;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (Find(op.outputs[k]) == next) return Find(op.inputs[k]) == old;
    }
    return false;
  }
  if (op.kind != Op::Kind::kStep || op.inputs.size() * op.outputs.size() > kOperandsMax) return false;
  for (size_t o = 0; o < op.outputs.size(); ++o) {
    if (Find(op.outputs[o]) != next) continue;
    bool read = false;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (Find(op.inputs[i]) != old) continue;
      if (!op.step->MayShare(static_cast<int>(o), static_cast<int>(i))) return false;
      read = true;
    }
    return read;
  }
  return false;
}

bool Assigner::Conflict(ValueId a, ValueId b, Move asked) {
  const Segments& left = buffers_[a].segments;
  const Segments& right = buffers_[b].segments;
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const int32_t from = std::max(left[i].start, right[j].start);
    const int32_t to = std::min(left[i].end, right[j].end);
    if (from < to) return true;
    if (from == to) {
      // They meet at one time: one must end where the other starts, at an op that lets it take over the
      // memory.
      const bool left_first = left[i].end == from && right[j].start == from;
      const bool right_first = right[j].end == from && left[i].start == from;
      if (left_first == right_first || (from & 1) == 0 || from < 0) return true;
      if (!MayTakeOver(from / 2, left_first ? a : b, left_first ? b : a, asked)) return true;
    }
    left[i].end < right[j].end ? ++i : ++j;
  }
  return false;
}

bool Assigner::TryJoin(ValueId first, ValueId second, Move asked) {
  const ValueId a = Find(first), b = Find(second);
  if (a == b) return true;
  const Buffer& left = buffers_[a];
  const Buffer& right = buffers_[b];
  if (left.read_only || right.read_only || left.bytes != right.bytes || left.bytes == 0) return false;
  if (left.fixed && right.fixed) return false;
  if (left.segments.size() + right.segments.size() > kSegmentsMax) return false;
  if (Conflict(a, b, asked)) return false;
  Join(a, b);
  return true;
}

void Assigner::Join(ValueId a, ValueId b) {
  if (buffers_[a].segments.size() < buffers_[b].segments.size()) std::swap(a, b);
  parent_[b] = a;
  AddSegments(buffers_[a].segments, buffers_[b].segments);
  buffers_[b].segments.clear();
  if (buffers_[b].fixed) {
    buffers_[a].fixed = true;
    buffers_[a].place = buffers_[b].place;
  }
}

absl::Status Assigner::Coalesce() {
  // An argument and the result that shares its memory are one buffer, for any lifetimes: copies into it wait
  // for its reads.
  absl::flat_hash_map<int32_t, ValueId> argument_buffer;
  for (ValueId argument : program_.argument_values)
    argument_buffer[program_.values[argument].index] = argument;
  for (ValueId place : program_.ops.back().outputs) {
    if (program_.values[place].space == Space::kArgument)
      Join(argument_buffer[program_.values[place].index], place);
  }
  // Copies in every iteration of a loop come first, then those around loops and branches, then those at the
  // end.
  for (const Op::Kind kind :
       {Op::Kind::kLoopBack, Op::Kind::kLoopBegin, Op::Kind::kBranchEnd, Op::Kind::kReturn}) {
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      RETURN_IF_ERROR(Look());
      const Op& op = program_.ops[i];
      if (op.kind != kind) continue;
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        TryJoin(op.inputs[k], op.outputs[k], {static_cast<int32_t>(i), k});
      }
    }
  }
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    RETURN_IF_ERROR(Look());
    const Op& op = program_.ops[i];
    if (op.kind != Op::Kind::kStep || op.inputs.size() * op.outputs.size() > kOperandsMax) continue;
    for (size_t o = 0; o < op.outputs.size(); ++o) {
      for (size_t k = 0; k < op.inputs.size(); ++k) {
        if (program_.values[op.inputs[k]].bytes != program_.values[op.outputs[o]].bytes) continue;
        if (!op.step->MayShare(static_cast<int>(o), static_cast<int>(k))) continue;
        if (TryJoin(op.inputs[k], op.outputs[o], {})) break;
      }
    }
  }
  return absl::OkStatus();
}

std::vector<BufferCopy> Assigner::SequenceMoves(const Op& op, int32_t scratch, int64_t& cycle_bytes) {
  std::vector<BufferCopy> moves;
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    const BufferCopy move{Find(op.inputs[k]), Find(op.outputs[k]), program_.values[op.outputs[k]].bytes};
    if (move.from != move.to && move.bytes > 0) moves.push_back(move);
  }
  cycle_bytes = 0;
  absl::flat_hash_map<int32_t, int32_t> readers,
      writer;  // By buffer, the number of moves that still read it, and the move that writes it.
  for (size_t m = 0; m < moves.size(); ++m) {
    ++readers[moves[m].from];
    writer[moves[m].to] = static_cast<int32_t>(m);
  }
  std::vector<bool> done(moves.size(), false);
  std::vector<int32_t> ready;
  const auto is_ready = [&](int32_t m) {
    const auto it = readers.find(moves[m].to);
    return it == readers.end() || it->second == 0;
  };
  for (size_t m = 0; m < moves.size(); ++m) {
    if (is_ready(static_cast<int32_t>(m))) ready.push_back(static_cast<int32_t>(m));
  }
  std::vector<BufferCopy> sequence;
  const auto drain = [&] {
    while (!ready.empty()) {
      const int32_t m = ready.back();
      ready.pop_back();
      sequence.push_back(moves[m]);
      done[m] = true;
      if (--readers[moves[m].from] > 0) continue;
      const auto it = writer.find(moves[m].from);
      if (it != writer.end() && !done[it->second]) ready.push_back(it->second);
    }
  };
  drain();
  // Only cycles remain, in which each buffer is read once. One buffer is saved to scratch, and the move that
  // reads it reads scratch instead.
  absl::flat_hash_map<int32_t, int32_t> reader;
  for (size_t m = 0; m < moves.size(); ++m) {
    if (!done[m]) reader[moves[m].from] = static_cast<int32_t>(m);
  }
  for (size_t m = 0; m < moves.size(); ++m) {
    if (done[m]) continue;
    const int32_t saved = moves[m].to;
    sequence.push_back({saved, scratch, moves[m].bytes});
    cycle_bytes = std::max(cycle_bytes, moves[m].bytes);
    moves[reader[saved]].from = scratch;
    readers[saved] = 0;
    readers[scratch] = 1;
    ready.push_back(static_cast<int32_t>(m));
    drain();
  }
  return sequence;
}

absl::StatusOr<Assignment> Assigner::Finish() {
  Assignment result;
  result.buffer.resize(program_.values.size());
  std::vector<int32_t> place_of(program_.values.size(), kNone);  // By representative, its index in places.
  std::vector<PackItem> items;
  std::vector<int32_t> item_place;  // By item, its index in places, or ~op for the scratch of a step.
  for (size_t v = 0; v < program_.values.size(); ++v) {
    const ValueId root = Find(static_cast<ValueId>(v));
    if (place_of[root] == kNone) {
      place_of[root] = static_cast<int32_t>(result.places.size());
      const Buffer& buffer = buffers_[root];
      result.places.push_back(buffer.place);
      if (!buffer.fixed && buffer.bytes > 0 && !buffer.segments.empty()) {
        items.push_back({buffer.segments.front().start, buffer.segments.back().end, buffer.bytes});
        item_place.push_back(place_of[root]);
      }
    }
    result.buffer[v] = place_of[root];
  }

  result.scratch_offset.assign(program_.ops.size(), -1);
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    RETURN_IF_ERROR(Look());
    const Op& op = program_.ops[i];
    const int32_t time = TimeOf(static_cast<int32_t>(i));
    result.copy_begin.push_back(static_cast<int32_t>(result.copies.size()));
    if (op.IsMove()) {
      const int32_t scratch = INT32_MAX;
      int64_t cycle_bytes = 0;
      std::vector<BufferCopy> copies = SequenceMoves(op, scratch, cycle_bytes);
      const int32_t scratch_place = static_cast<int32_t>(result.places.size());
      if (cycle_bytes > 0) {
        result.places.push_back({});
        items.push_back({time, time + 1, cycle_bytes});
        item_place.push_back(scratch_place);
      }
      for (BufferCopy& copy : copies) {
        copy.from = copy.from == scratch ? scratch_place : place_of[copy.from];
        copy.to = copy.to == scratch ? scratch_place : place_of[copy.to];
        result.copies.push_back(copy);
      }
    } else if (op.step != nullptr && op.step->scratch_bytes() > 0) {
      items.push_back({time, time + 1, op.step->scratch_bytes()});
      item_place.push_back(~static_cast<int32_t>(i));
    }
  }
  result.copy_begin.push_back(static_cast<int32_t>(result.copies.size()));

  const std::optional<int64_t> size = Pack(items, kBufferAlignment);
  if (!size.has_value()) return ResourceExhausted("The program's temporary memory overflows.");
  result.arena_bytes = *size;
  for (size_t i = 0; i < items.size(); ++i) {
    if (item_place[i] >= 0) {
      result.places[item_place[i]].offset = items[i].offset;
    } else {
      result.scratch_offset[~item_place[i]] = items[i].offset;
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<Assignment> AssignBuffers(const FlatProgram& program, passes::PassWatch* watch) {
  Assigner assigner(program, watch);
  RETURN_IF_ERROR(assigner.Coalesce());
  return assigner.Finish();
}

}  // namespace hlod::engine
