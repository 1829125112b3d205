// How long one client's tiny executes take beside another of the same user that does its worst.
#pragma once

#include <string>

namespace hlod::bench {

// Prints, for each attack, the 99th percentile alone and beside it, in turn.
void Bystander(int repeats);
// An attacker's process: goes on until it is killed.
void Attack(const std::string& name, const std::string& address);

}  // namespace hlod::bench
