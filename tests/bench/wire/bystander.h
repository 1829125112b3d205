// Measures one client's tiny executes beside another client of the same user that attacks.
#pragma once

#include <string>

namespace hlod::bench {

// Prints, for each attack whose name contains `only`, the 99th percentile alone and beside the attack,
// measured in turn, of a tiny execute and of a bare echo, which shows what the machine itself does to it.
void Bystander(int repeats, const std::string& only = "");
// Runs an attacker's process until it is killed.
void Attack(const std::string& name, const std::string& address);

}  // namespace hlod::bench
