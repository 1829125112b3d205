// How often a loop turns, where its words say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/hlo/module.h"

namespace hlod::hlo {

// The value of a constant that is one integer.
std::optional<int64_t> IntegerOf(Instruction instruction);

// The element of a loop's state that counts: it begins at `begin`, grows by `step` a turn, and the loop ends
// after `turns`.
struct LoopCounter {
  size_t index = 0;
  int64_t begin = 0, step = 0, turns = 0;
};
// Of a while whose state begins as `init`: one element of a tuple begins as a constant, grows by a constant,
// and is compared with a constant, or with an element that is one and stays. Nothing where that is not so.
std::optional<LoopCounter> FindLoopCounter(Instruction init, const Computation& body,
                                           const Computation& condition);

// The trip count of the while `loop`: what XLA has noted in its backend config (known_trip_count), else what
// FindLoopCounter says.
std::optional<int64_t> TripCountOf(const Module& module, Instruction loop);

}  // namespace hlod::hlo
