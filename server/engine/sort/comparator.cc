// Finds the keys that a comparator compares, most significant first.
//
// When the two sides of the most significant operand are known numbers, the comparator becomes true (less),
// false (greater) or, for equal numbers, always the same comparator of the other operands. So the operand is
// found by trying each one on all pairs of samples, and its order by comparing the results with each possible
// order of keys. Example: lt(a, b) | (number(a) & nan(b)) of two floats, which is how a sort that puts NaN
// last is written, answers like a key with equal zeros and the NaNs highest.
#include <array>
#include <bit>
#include <utility>

#include "server/engine/sort/sort.h"
#include "server/engine/sort/terms.h"

namespace hlod::engine {
namespace {

// The simplified comparator for each pair of samples of one operand.
struct Answers {
  std::vector<Terms::Id> of;       // The answers row by row: left, right.
  Terms::Id rest = Terms::kFalse;  // The only answer that is neither true nor false, if there is one.
};

// Returns nullopt when other operands decide before this one.
std::optional<Answers> Ask(Terms& terms, Terms::Id root, int operand, absl::Span<const SampleBits> samples) {
  Answers answers;
  for (const SampleBits left : samples) {
    for (const SampleBits right : samples) {
      const Terms::Id answer = terms.With(root, operand, left, right);
      answers.of.push_back(answer);
      if (answer == Terms::kFalse || answer == Terms::kTrue) continue;
      if (answers.rest != Terms::kFalse && answers.rest != answer) return std::nullopt;
      answers.rest = answer;
      if (terms.exhausted()) return std::nullopt;
    }
  }
  return answers;
}

// Returns a sample as an unsigned number in the key's order.
uint64_t Place(const SortKey& key, SampleBits bits) {
  uint64_t place = bits;
  if (hlo::IsFloat(key.type)) place = FloatKey(bits, IsNanSample(key.type, bits), key);
  if (hlo::IsSigned(key.type)) place = bits ^ uint64_t { 1 } << 63;
  return key.descending ? ~place : place;
}

// Returns true when the answers are those of the key. With `unordered`, every comparison with a NaN is false.
bool Fits(const SortKey& key, bool unordered, absl::Span<const SampleBits> samples, const Answers& answers) {
  size_t i = 0;
  for (const SampleBits left : samples) {
    for (const SampleBits right : samples) {
      const uint64_t x = Place(key, left), y = Place(key, right);
      Terms::Id wanted = x < y ? Terms::kTrue : y < x ? Terms::kFalse : answers.rest;
      if (unordered && (IsNanSample(key.type, left) || IsNanSample(key.type, right))) wanted = Terms::kFalse;
      if (answers.of[i++] != wanted) return false;
    }
  }
  return true;
}

std::optional<SortKey> FindKey(SortKey key, absl::Span<const SampleBits> samples, const Answers& answers) {
  for (const bool descending : {false, true}) {
    key.descending = descending;
    if (!hlo::IsFloat(key.type)) {
      if (Fits(key, false, samples, answers)) return key;
      continue;
    }
    for (const bool zeros_equal : {false, true}) {
      key.zeros_equal = zeros_equal;
      for (const NanOrder nans : {NanOrder::kBySign, NanOrder::kHighest, NanOrder::kLowest}) {
        key.nans = nans;
        if (Fits(key, false, samples, answers)) return key;
      }
      key.nans = NanOrder::kHighest;
      if (Fits(key, true, samples, answers)) return key;
    }
  }
  return std::nullopt;
}

// Returns the type of both sides of an operand, or nullopt when they differ.
std::optional<hlo::PrimitiveType> TypeOf(const hlo::Computation& computation, int operand) {
  const absl::Span<const hlo::NodeId> parameters = computation.parameters();
  const size_t left = 2 * static_cast<size_t>(operand);
  if (left + 1 >= parameters.size()) return std::nullopt;
  const hlo::PrimitiveType type = computation[parameters[left]].shape().type;
  return computation[parameters[left + 1]].shape().type == type ? std::optional(type) : std::nullopt;
}

}  // namespace

std::optional<std::vector<SortKey>> RecogniseComparator(const hlo::Computation& computation) {
  Terms terms;
  std::optional<Terms::Id> root = terms.Read(computation);
  if (!root) return std::nullopt;
  std::vector<SortKey> keys;
  while (*root != Terms::kFalse) {
    // A comparator that is true for equal elements does not define an order.
    if (*root == Terms::kTrue) return std::nullopt;
    const uint32_t operands = terms.operands(*root);
    std::optional<Terms::Id> rest;
    for (uint32_t left = operands; left != 0 && !rest && !terms.exhausted(); left &= left - 1) {
      const int operand = std::countr_zero(left);
      const std::optional<hlo::PrimitiveType> type = TypeOf(computation, operand);
      if (!type) continue;
      const absl::Span<const SampleBits> samples = SamplesOf(*type);
      const std::optional<Answers> answers = Ask(terms, *root, operand, samples);
      if (!answers) continue;
      if (const std::optional<SortKey> key = FindKey({operand, *type}, samples, *answers)) {
        keys.push_back(*key);
        rest = answers->rest;
      }
    }
    if (!rest) return std::nullopt;
    root = rest;
  }
  return keys;
}

}  // namespace hlod::engine
