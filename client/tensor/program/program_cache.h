// The compiled programs of one connection, found by content: first by the trace as recorded, then by its
// canonical form.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "client/tensor/program/canonical.h"
#include "common/hlo/literal.h"
#include "hlod/runtime/executable.h"

namespace hlod::lazy {

struct Compiled {
  Executable executable;
  uint64_t hash = 0;
};

// A compiled program for a recorded trace, and which of the trace's parameters are its arguments.
struct Program {
  std::shared_ptr<const Compiled> compiled;
  std::vector<uint32_t> arguments;  // arguments[i] is the trace's parameter for argument i.
  // Arguments after those: the sizes and numbers of this trace, if the program serves others, too
  // (bounded_sizes.h).
  std::vector<std::shared_ptr<const hlo::Literal>> numbers;
  std::vector<int> donate;  // Indices of arguments.
};

// The traces that differ in sizes only.
struct Form {
  explicit Form(const hlo::Computation& first) : first(first), latest(first) {}

  const hlo::Computation first;  // The canonical form of the first of them.
  hlo::Computation latest;  // That of the latest whose sizes do not grow together with those of the first.
  int compiled = 0;              // The number of them that were compiled for their own sizes.
  bool refused = false;          // True when no program can serve several of them.
};

// Maps word sequences to values. A hash finds an entry, and a comparison of all words decides. The least
// recently used entries are dropped when the total number of words exceeds a bound.
template <typename T>
class ByContent {
 public:
  explicit ByContent(size_t words_max) : words_max_(words_max) {}

  // Returns the value stored for `head` followed by `tail`, or null. Valid until the next Add.
  const T* Find(absl::Span<const uint32_t> head, absl::Span<const uint32_t> tail);
  const T& Add(absl::Span<const uint32_t> head, absl::Span<const uint32_t> tail, T value);
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint64_t hash;
    std::vector<uint32_t> head, tail;
    T value;
  };
  static uint64_t Hash(absl::Span<const uint32_t> head, absl::Span<const uint32_t> tail);

  size_t words_max_;
  size_t words_ = 0;
  std::list<Entry> entries_;  // The entries, most recently used first.
  absl::flat_hash_map<uint64_t, typename std::list<Entry>::iterator> by_hash_;
};

using RecordedPrograms = ByContent<Program>;
using CanonicalPrograms = ByContent<std::shared_ptr<const Compiled>>;
using Forms = ByContent<std::shared_ptr<Form>>;

}  // namespace hlod::lazy
