// The inputs of the target `session`: frames that two clients send, and examples of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/hlod/v1/session.pb.h"

namespace hlod::fuzz {

struct Frame {
  // The parts of `head`.
  static constexpr uint8_t kActions = 7, kOther = 8;
  enum Action : uint8_t {
    kInOrder,  // `bytes` are a ClientMessage, whose ids are set to those that are next.
    kRaw,      // They are sent as they are.
    kBulk,     // They are the bytes of an upload.
    kBreak,    // The client's connection breaks.
    kResume,   // It connects again, to its session.
    kConnect,  // It begins another session.
    kRun,      // The daemon runs all jobs.
    kWait      // Seconds pass, as many as there are bytes.
  };
  uint8_t head = kInOrder;
  std::string bytes;
};

// Reads at most `most` frames; the last one may be cut short.
std::vector<Frame> Split(std::string_view input, size_t most);
std::string Joined(const std::vector<Frame>& frames);
// Returns sessions that a client could have, with every command.
const std::vector<std::vector<Frame>>& SessionSeeds();

}  // namespace hlod::fuzz
