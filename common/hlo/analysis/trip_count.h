// The trip count of a loop, if it follows from the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/hlo/module.h"

namespace hlod::hlo {

// Returns the value of a constant that is one integer, or nullopt.
std::optional<int64_t> IntegerOf(Instruction instruction);

// The element of a loop's state that counts: it begins at `begin`, grows by `step` per iteration, and the
// loop ends after `iterations` iterations.
struct LoopCounter {
  size_t index = 0;
  int64_t begin = 0, step = 0, iterations = 0;
};
// Finds the counter of a while whose state begins as `init`: an element of the tuple that begins as a
// constant, grows by a constant, and is compared with a constant or an element that begins as a constant and
// never changes. Returns nullopt when the loop has another form.
std::optional<LoopCounter> FindLoopCounter(Instruction init, const Computation& body,
                                           const Computation& condition);

// Returns the trip count of the while `loop`: the one that XLA noted in its backend config
// (known_trip_count), else that of FindLoopCounter; nullopt when neither exists.
std::optional<int64_t> TripCountOf(const Module& module, Instruction loop);

}  // namespace hlod::hlo
