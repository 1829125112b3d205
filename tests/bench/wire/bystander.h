// Measures one client's tiny executes beside another client of the same user that attacks.
#pragma once

#include <string>

namespace hlod::bench {

// Prints, for each attack, the 99th percentile alone and beside the attack, measured in turn.
void Bystander(int repeats);
// Runs an attacker's process until it is killed.
void Attack(const std::string& name, const std::string& address);

}  // namespace hlod::bench
