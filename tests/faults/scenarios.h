// The life of a session in pieces, each of which runs once per allocation that it makes, with that allocation
// failing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/faults/driver.h"

namespace hlod::faults {

// The value that a command's reply must have, if it has one.
struct Expected {
  uint64_t command;
  std::vector<float> values;
};

struct Scenario {
  std::string name;
  // With memory that does not fail.
  std::function<void(Driver&)> prepare;
  // With failing memory. Returns the reads and their values.
  std::function<std::vector<Expected>(Driver&)> act;
  bool connected = true;   // The session is open before `act`.
  bool assembled = false;  // Programs become machine code when they are compiled.
};

std::vector<Scenario> Scenarios();

}  // namespace hlod::faults
