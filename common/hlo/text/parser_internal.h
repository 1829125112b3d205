// What the parser of HLO text builds first: computations and instructions that name one another, not yet in
// order.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/hlo/module.h"
#include "common/hlo/text/lexer.h"
#include "common/hlo/text/text.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::hlo::text {

// A name somewhere in the text; for computations also one written in place, by its index.
struct Reference {
  std::string_view name;
  size_t at = 0;
  std::optional<uint32_t> in_place;
};

struct ParsedInstruction {
  std::string name;
  size_t at = 0;
  bool is_root = false;
  std::optional<Shape> shape;  // Absent: to be inferred.
  Opcode opcode = kTuple;
  Attributes attributes;
  bool states_comparison_type = false;
  std::vector<Reference> operands, control_predecessors;
  std::vector<Reference> called;  // In wire order; a hole has no name and nothing in place.
  Notes notes;
};

struct ParsedComputation {
  std::string name;
  size_t at = 0;
  std::string execution_thread;
  std::vector<ParsedInstruction> instructions;
};

struct ParsedModule {
  std::vector<ParsedComputation> computations;  // Those in place too, before the one that holds them.
  std::vector<uint32_t> named;                  // The computations that can be called by name.
  std::optional<uint32_t> entry;                // The one marked ENTRY.
  std::deque<std::string> names;                // That references name and the text does not hold.
};

// Reads the body of a computation after its '{', up to its '}'. Literals go into the tables.
absl::Status ReadBody(Lexer& lexer, const ParseOptions& options, int depth, Tables& tables,
                      ParsedModule& module, ParsedComputation& computation);

// "HloModule name, attribute=value, ..." after the word HloModule, into the module.
absl::Status ReadHeader(Lexer& lexer, const ParseOptions& options, Module& module);

// Appends what was parsed to `module`: names resolved, computations and instructions in an order in which
// they can run.
absl::Status Assemble(const Lexer& lexer, ParsedModule& parsed, Module& module);

}  // namespace hlod::hlo::text
