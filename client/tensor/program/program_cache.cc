// Implements the caches, whose keys are the contents of traces and of canonical forms.
#include "client/tensor/program/program_cache.h"

#include <utility>

#include "xxhash.h"

namespace hlod::lazy {

template <typename T>
uint64_t ByContent<T>::Hash(absl::Span<const uint32_t> head, absl::Span<const uint32_t> tail) {
  const uint64_t of_head = XXH3_64bits(head.data(), head.size() * sizeof(uint32_t));
  return XXH3_64bits_withSeed(tail.data(), tail.size() * sizeof(uint32_t), of_head);
}

template <typename T>
const T* ByContent<T>::Find(absl::Span<const uint32_t> head, absl::Span<const uint32_t> tail) {
  const auto found = by_hash_.find(Hash(head, tail));
  if (found == by_hash_.end()) return nullptr;
  // The hash only finds the entry; the comparison of the words decides.
  Entry& entry = *found->second;
  if (absl::MakeConstSpan(entry.head) != head || absl::MakeConstSpan(entry.tail) != tail) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entry.value;
}

template <typename T>
const T& ByContent<T>::Add(absl::Span<const uint32_t> head, absl::Span<const uint32_t> tail, T value) {
  const uint64_t hash = Hash(head, tail);
  const auto drop = [&](typename std::list<Entry>::iterator entry) {
    words_ -= entry->head.size() + entry->tail.size();
    by_hash_.erase(entry->hash);
    entries_.erase(entry);
  };
  if (const auto same = by_hash_.find(hash); same != by_hash_.end()) drop(same->second);
  entries_.push_front({hash, {head.begin(), head.end()}, {tail.begin(), tail.end()}, std::move(value)});
  by_hash_[hash] = entries_.begin();
  words_ += head.size() + tail.size();
  while (words_ > words_max_ && entries_.size() > 1) drop(std::prev(entries_.end()));
  return entries_.front().value;
}

template class ByContent<Program>;
template class ByContent<std::shared_ptr<const Compiled>>;
template class ByContent<std::shared_ptr<Form>>;

}  // namespace hlod::lazy
