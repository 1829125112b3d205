// The reference of a simulation: which results the commands of one client must have.
//
// Each command that defines a handle makes a Node. The model knows at once which value the node has if its
// command succeeds, as the evaluator computes it; whether the command succeeds, only the daemon's answer
// says. A command may fail by itself only where the simulation provides for it: no memory, a limit, a cancel.
// Otherwise it must succeed if the nodes that it uses have, and must fail if one of them has not.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/errors/error.h"
#include "common/hlo/module.h"
#include "tests/simulation/seed.h"

namespace hlod::simulation {

enum class Outcome { kUnknown, kSucceeded, kFailed };

struct Node {
  uint64_t handle = 0;
  size_t elements = 0;
  bool placeholder = false;
  bool filled = false;       // It was a placeholder; it still is one if its fill failed.
  std::vector<float> value;  // Empty for a placeholder.
  bool consumed = false;     // An execute to which it was donated has succeeded.
  bool freed = false;        // A free of it has succeeded.
  Outcome outcome = Outcome::kUnknown;
};
using NodePtr = std::shared_ptr<Node>;

// A program of two parameters and two results, all of f32[elements].
struct Program {
  uint64_t handle = 0;
  size_t elements = 0;
  std::string bytes;
  std::unique_ptr<hlo::Module> module;
  bool uses[2][2] = {};  // uses[r][p]: result r depends on parameter p.
  Outcome outcome = Outcome::kUnknown;

  // Returns the results as the evaluator computes them.
  std::vector<std::vector<float>> Evaluate(const std::vector<float>& a, const std::vector<float>& b) const;
};

// Returns a random program. `in_place`: its first result may take the memory of its first parameter.
std::shared_ptr<Program> MakeProgram(Seed& seed, size_t elements, bool in_place);

// The expectation of one command.
struct Command {
  std::string what;
  std::vector<NodePtr> uses;     // It must fail if one of these has failed.
  std::vector<NodePtr> defines;  // They succeed or fail with it.
  std::shared_ptr<Program> program, compiles, frees_program;
  NodePtr reads;                   // A download: the value is that of this node.
  bool reads_placeholder = false;  // It must fail with the kind placeholder, unless something else failed.
  NodePtr donates, frees;          // The buffer that is gone if it succeeds.
  // The buffer of which the fate is known when all earlier commands are: if an execute before has consumed
  // it, this command must fail with the kind donated.
  NodePtr perhaps_consumed;
  bool may_exceed_staging = false;  // Unfinished uploads before it may use up staging_bytes_max.
  bool may_be_late = false;         // The clock may leap beyond upload_wait_us before its bytes come.
  bool may_lack_memory = false;
  bool cancelled = false;    // The client has asked for its cancellation.
  int64_t upload_bytes = 0;  // Counted from host to device if it succeeds.
  bool executes = false;     // Counted as an execute if it succeeds.
  Outcome outcome = Outcome::kUnknown;
  ErrorKind kind = ErrorKind::kNone;
  std::string error;
};

// Returns what is wrong with a command's outcome, once those of all earlier commands are known; empty when
// it is as it must be.
std::string Judge(const Command& command);

}  // namespace hlod::simulation
