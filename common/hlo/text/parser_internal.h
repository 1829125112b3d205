// The intermediate result of the parser of HLO text: computations and instructions that refer to one another
// by name, not yet ordered.
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

// A name in the text. For computations also one written in place, by its index.
struct Reference {
  std::string_view name;
  size_t at = 0;
  std::optional<uint32_t> in_place;
};

struct ParsedInstruction {
  std::string name;
  size_t at = 0;
  bool is_root = false;
  std::optional<Shape> shape;  // nullopt when the shape is to be inferred.
  Opcode opcode = kTuple;
  Attributes attributes;
  bool states_comparison_type = false;
  std::vector<Reference> operands, control_predecessors;
  std::vector<Reference> called;  // In wire order; an unset entry has neither a name nor an index.
  Notes notes;
};

struct ParsedComputation {
  std::string name;
  size_t at = 0;
  std::string execution_thread;
  std::vector<ParsedInstruction> instructions;
};

struct ParsedModule {
  // A computation written in place precedes the one that contains it.
  std::vector<ParsedComputation> computations;
  std::vector<uint32_t> named;    // The computations that can be called by name.
  std::optional<uint32_t> entry;  // The computation marked ENTRY.
  std::deque<std::string> names;  // Storage for names of references that do not occur in the text.
};

// Reads the body of a computation after its '{', up to its '}'. Literals are interned in the tables.
absl::Status ReadBody(Lexer& lexer, const ParseOptions& options, int depth, Tables& tables,
                      ParsedModule& module, ParsedComputation& computation);

// Reads a text that is one instruction without a module, into a computation whose parameters are its
// operands: "x = f32[4] add(f32[4] y, f32[4] z)", or XLA's canonical form without names, "f32[4] add(f32[4],
// f32[4])".
absl::Status ReadAlone(Lexer& lexer, const ParseOptions& options, Tables& tables, ParsedModule& module,
                       ParsedComputation& computation);

// Reads "HloModule name, attribute=value, ..." after the word HloModule, into the module.
absl::Status ReadHeader(Lexer& lexer, const ParseOptions& options, Module& module);

// Appends the parsed computations to `module`: resolves names, and orders computations and instructions so
// that they can run.
absl::Status Assemble(const Lexer& lexer, ParsedModule& parsed, Module& module);

}  // namespace hlod::hlo::text
