// The participants of a run that are in other processes, and the exchange of bytes with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace hlod {

// Exchanges bytes between the processes of a run. Thread-safe.
class Carrier {
 public:
  // Called every few milliseconds while a participant waits. Returning an error ends its wait with that
  // error.
  using Stop = absl::FunctionRef<absl::Status()>;
  // The bytes that go to and come from one process. Both sides know all sizes.
  struct Exchange {
    uint32_t rank = 0;
    std::vector<absl::Span<const std::byte>> sent;
    std::vector<absl::Span<std::byte>> received;
  };
  virtual ~Carrier() = default;
  // Meets the other processes at a place, which has one name in all of them, and may be met at again. Returns
  // when all bytes have been sent and received; after an error, the memory is not used any more either.
  virtual absl::Status Meet(const std::string& place, absl::Span<const Exchange> exchanges, Stop stop) = 0;
};

// Says in which process each participant of a run is, and how the processes meet.
struct Elsewhere {
  uint32_t rank = 0;            // This process.
  std::vector<uint32_t> ranks;  // By participant, its process.
  std::shared_ptr<Carrier> carrier;
  // By participant. That of the first participant here of a group has the memory for the operands of those
  // elsewhere.
  std::vector<std::byte*> spaces;
  bool IsHere(int participant) const { return ranks[static_cast<size_t>(participant)] == rank; }
};

}  // namespace hlod
