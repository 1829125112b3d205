// Compiled graphs of one connection, found by content: first as a graph was recorded, then in canonical form.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "client/tensor/trace/canonical.h"
#include "hlod/runtime/executable.h"

namespace hlod::lazy {

// A compiled program.
struct Compiled {
  Executable executable;
  uint64_t hash = 0;
};

// How a recorded graph runs: a compiled program, and which of the graph's parameters its arguments are.
struct Program {
  std::shared_ptr<const Compiled> compiled;
  std::vector<uint32_t> arguments;  // Of each argument: the graph's parameter.
  std::vector<int> donate;          // Arguments.
};

// Words that are compared, under a hash that finds them. Least recently used entries go first when the words
// exceed a bound.
template <typename T>
class ByContent {
 public:
  explicit ByContent(size_t words_max) : words_max_(words_max) {}

  // The entry equal to `head` followed by `tail`, or null. Valid until the next Add.
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
  std::list<Entry> entries_;  // The most recently used first.
  absl::flat_hash_map<uint64_t, typename std::list<Entry>::iterator> by_hash_;
};

using RecordedPrograms = ByContent<Program>;
using CanonicalPrograms = ByContent<std::shared_ptr<const Compiled>>;

}  // namespace hlod::lazy
