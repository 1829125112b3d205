// topk and the TopK custom-call: the k largest (or smallest) elements of each line in total order, with their
// positions. Equal elements are ordered by position.
#include <algorithm>
#include <cstring>

#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/sort/sort.h"

namespace hlod::engine {
namespace {

// A key and its position: a strict order of all elements, so that any selection is the stable one.
struct Ranked {
  uint64_t key;
  int64_t place;
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
};

class TopKStep final : public Step {
 public:
  TopKStep(hlo::Instruction instruction, bool largest, int threads)
      : Step(StepKind::kLibrary, DescribeStep(instruction)) {
    const hlo::Shape& operand = instruction.operand(0).shape();
    key_ = {0, operand.type, largest, false, NanOrder::kBySign};
    function_ = FindKeyFunction(operand.type);
    width_ = Width(operand);
    length_ = operand.dims.back();
    k_ = instruction.shape().tuple[0].dims.back();
    lines_ = k_ == 0 ? 0 : Elements(instruction.shape().tuple[0]) / k_;
    workers_ = static_cast<int>(std::clamp<int64_t>(lines_, 1, std::max(1, threads)));
    by_radix_ = k_ > kSelectWantedMax;
    by_insertion_ = k_ > 0 && k_ <= kInsertWantedMax;
    room_ = std::min(length_, std::max(4 * k_, kRoomMin));
    worker_bytes_ = by_radix_ ? SortScratchBytes(length_)
                              : ScratchAlign(kKeys * static_cast<int64_t>(sizeof(uint64_t))) +
                                    ScratchAlign(room_ * static_cast<int64_t>(sizeof(Ranked)));
    set_scratch_bytes(workers_ * worker_bytes_);
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    ParallelRanges(std::min(context.threads, workers_), lines_, lines_ * length_ * 4,
                   [&](int64_t begin, int64_t end, int worker) {
                     std::byte* scratch = context.scratch + worker * worker_bytes_;
                     StopCheck stop(context.run);
                     for (int64_t line = begin; line < end; ++line) {
                       if (by_radix_ ? !SortLine(inputs, outputs, line, scratch, stop)
                                     : !SelectFromLine(inputs, outputs, line, scratch, stop))
                         return;
                     }
                   });
    return StopCheck::Verdict(context.run);
  }

 private:
  // The number of wanted elements up to which the library's selection, which cannot be stopped, takes less
  // than a millisecond, and the elements whose keys are computed at a time.
  static constexpr int64_t kSelectWantedMax = 16 * 1024, kKeys = 4096;
  // The least number of elements of which the best are chosen: the sooner there is a k-th best one, the fewer
  // are collected.
  static constexpr int64_t kRoomMin = 64;
  // So few are kept in order: to collect more of them, and to select, takes longer.
  static constexpr int64_t kInsertWantedMax = 8;

  // Collects elements that may be among the k. When there is no more room, the best k of them are kept, and
  // from then on only elements better than the last of these are collected: few of random elements, and in
  // any case each is moved only a few times. Returns false when it was interrupted.
  bool SelectFromLine(const std::byte* const* inputs, std::byte* const* outputs, int64_t line,
                      std::byte* scratch, StopCheck& stop) const {
    auto* keys = reinterpret_cast<uint64_t*>(scratch);
    auto* ranked =
        reinterpret_cast<Ranked*>(scratch + ScratchAlign(kKeys * static_cast<int64_t>(sizeof(uint64_t))));
    const std::byte* from = inputs[0] + line * length_ * width_;
    int64_t count = 0;
    if (by_insertion_) return InsertFromLine(outputs, line, from, keys, ranked, stop);
    const auto keep_best = [&] {
      if (k_ < count) std::nth_element(ranked, ranked + (k_ - 1), ranked + count);
      count = std::min(count, k_);
    };
    bool was_full = false;
    uint64_t last = 0;  // The last of the k keys that were kept.
    for (int64_t begin = 0; begin < length_; begin += kKeys) {
      const int64_t size = std::min(kKeys, length_ - begin);
      function_(from + begin * width_, width_, size, key_, keys);
      for (int64_t i = 0; i < size; ++i) {
        // An equal element that comes later is not before it.
        if (was_full && keys[i] >= last) continue;
        ranked[count++] = {keys[i], begin + i};
        if (count < room_) continue;
        keep_best();
        was_full = true;
        last = ranked[k_ - 1].key;
      }
      if (stop.Stops(size * 4)) return false;
    }
    keep_best();
    std::sort(ranked, ranked + k_);
    for (int64_t i = 0; i < k_; ++i) Put(outputs, line, i, from, ranked[i].place);
    return true;
  }

  // Keeps the few best elements in order. Returns false when it was interrupted.
  bool InsertFromLine(std::byte* const* outputs, int64_t line, const std::byte* from, uint64_t* keys,
                      Ranked* best, StopCheck& stop) const {
    int64_t count = 0;
    for (int64_t begin = 0; begin < length_; begin += kKeys) {
      const int64_t size = std::min(kKeys, length_ - begin);
      function_(from + begin * width_, width_, size, key_, keys);
      for (int64_t i = 0; i < size; ++i) {
        const uint64_t key = keys[i];
        // An equal element that comes later is not before it.
        if (count == k_ && key >= best[k_ - 1].key) continue;
        int64_t at = count < k_ ? count++ : k_ - 1;
        for (; at > 0 && best[at - 1].key > key; --at) best[at] = best[at - 1];
        best[at] = {key, begin + i};
      }
      if (stop.Stops(size * 4)) return false;
    }
    for (int64_t i = 0; i < k_; ++i) Put(outputs, line, i, from, best[i].place);
    return true;
  }

  // Returns false when it was interrupted.
  bool SortLine(const std::byte* const* inputs, std::byte* const* outputs, int64_t line, std::byte* scratch,
                StopCheck& stop) const {
    const std::byte* from = inputs[0] + line * length_ * width_;
    KeySorter sorter(scratch, length_, stop);
    return sorter.SortBy(function_, key_, from, width_, width_) &&
           stop.ForPieces(k_, 5, [&](int64_t begin, int64_t end) {
             for (int64_t i = begin; i < end; ++i) Put(outputs, line, i, from, sorter.order()[i]);
           });
  }

  // Writes result `i` of a line, the element at `place`.
  void Put(std::byte* const* outputs, int64_t line, int64_t i, const std::byte* from, int64_t place) const {
    std::memcpy(outputs[0] + (line * k_ + i) * width_, from + place * width_, width_);
    const auto narrow = static_cast<int32_t>(place);
    std::memcpy(outputs[1] + (line * k_ + i) * static_cast<int64_t>(sizeof(narrow)), &narrow, sizeof(narrow));
  }

  SortKey key_;
  KeyFunction function_ = nullptr;
  int width_ = 1;
  int64_t length_ = 0, k_ = 0, lines_ = 0;
  bool by_radix_ = false, by_insertion_ = false;
  int64_t room_ = 0;  // The number of elements that are collected before the best of them are chosen.
  int workers_ = 1;
  int64_t worker_bytes_ = 0;
};

}  // namespace

MaybeStep MakeTopKStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  bool largest = true;
  if (instruction.opcode() == hlo::kTopK) {
    largest = instruction.attributes<hlo::TopKAttributes>().largest;
  } else {
    // The custom-call may have a comparator; only a plain comparison of values determines the direction.
    if (instruction.attributes<hlo::CustomCallAttributes>().target != "TopK" ||
        instruction.operand_count() != 1)
      return nullptr;
    if (!instruction.called().empty()) {
      const auto keys = RecogniseComparator(module.computation(instruction.called()[0]));
      if (!keys || keys->size() != 1 || keys->front().operand != 0) return nullptr;
      largest = keys->front().descending;
    }
  }
  const hlo::Shape& operand = instruction.operand(0).shape();
  const hlo::Shape& result = instruction.shape();
  if (operand.dims.empty() || FindKeyFunction(operand.type) == nullptr) return nullptr;
  if (!result.IsTuple() || result.tuple.size() != 2 || result.tuple[0].type != operand.type ||
      result.tuple[1].type != hlo::kS32) {
    return nullptr;
  }
  hlo::Dims wanted = operand.dims;
  wanted.back() = result.tuple[0].dims.empty() ? 0 : result.tuple[0].dims.back();
  if (wanted.back() > operand.dims.back() || operand.dims.back() > INT32_MAX ||
      result.tuple[0].dims != wanted || result.tuple[1].dims != wanted) {
    return nullptr;
  }
  return std::make_unique<TopKStep>(instruction, largest, threads);
}

}  // namespace hlod::engine
