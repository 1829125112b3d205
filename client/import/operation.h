// A StableHLO program as operations: what the readers of text and of bytecode both make, and what the
// conversion to HLO reads. Names and attributes are StableHLO's; an operation's attributes are flat, as in
// the portable dialect (VHLO): the fields of #stablehlo.dot<...>, .conv<...>, .gather<...>, .scatter<...> and
// .channel_handle<...> stand beside the others (lhs_contracting_dimensions, index_vector_dim, channel_id).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"
#include "common/hlo/shape.h"

namespace hlod::stablehlo {

// A type is an HLO shape without layout: tensors, tuples and tokens. tensor<?x4xf32> has kUnboundedSize, or
// its bound where #stablehlo.bounds<...> (text) or an encoding (bytecode) states one.
using Type = hlo::Shape;
struct FunctionType {
  std::vector<Type> inputs, results;
};

struct Attribute;
using AttributeMap = std::map<std::string, Attribute, std::less<>>;
using Integers = std::vector<int64_t>;  // array<i64: 1, 2>, dense<[1, 2]> : tensor<2xi64>, [1, 2].
// A word that names one of a list: EQ, FLOAT, DEFAULT, FFT, NO_TRANSPOSE, upper case. An api_version is one,
// by its number: "4" is TYPED_FFI.
struct Word {
  std::string text;
};
struct Symbol {
  std::string name;  // Without the @.
};
struct Attribute {
  // Nothing is a unit attribute: it is there. Lists of bools (window_reversal) are Integers of 0 and 1;
  // [n, 2] integers (padding, source_target_pairs) and replica_groups are a Literal; a constant's value is a
  // Literal of its tensor's shape, splats expanded. What hlod has no use for (Shardy's rules, locations,
  // result_accuracy) may be a Word of its text.
  std::variant<std::monostate, bool, int64_t, double, std::string, Word, Symbol, Integers, hlo::Literal, Type,
               FunctionType, std::vector<Attribute>, std::shared_ptr<AttributeMap>>
      value;
  // Of an integer, a float or Integers, the type that it states (76 : ui8, 0.95 : f32, array<i32: 1>);
  // kInvalid: none. The text of a custom call's backend_config has it.
  hlo::PrimitiveType type = hlo::kInvalid;
};
// The attribute of a name, and what it is as a dictionary; null when it is not there, or is something else.
inline const Attribute* Find(const AttributeMap& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}
inline const AttributeMap* MapOf(const Attribute* attribute) {
  if (attribute == nullptr) return nullptr;
  const auto* const map = std::get_if<std::shared_ptr<AttributeMap>>(&attribute->value);
  return map == nullptr ? nullptr : map->get();
}

// Values are numbered, over the whole program, in the order of their definitions.
using ValueId = int32_t;
struct Value {
  ValueId id = -1;
  Type type;
};

struct Operation;
struct Block {
  std::vector<Value> arguments;
  std::vector<Operation> operations;  // The last one ends it: stablehlo.return, func.return, sdy.return.
};
struct Region {
  std::vector<Block> blocks;  // One, in all that StableHLO has.
};

// Where an operation stands: in the program's source (loc(...)), and in the file that was read, for errors.
struct Location {
  std::string name;  // The scope: "jit(f)/jit(main)/add". Empty: none.
  std::string file;  // Empty: none.
  int line = 0;
  int read_line = 0, read_column = 0;  // Of text; 0: bytecode.
};

struct Operation {
  std::string name;  // "stablehlo.add", "func.call", "chlo.top_k", "sdy.sharding_constraint".
  std::vector<ValueId> operands;
  std::vector<Value> results;
  AttributeMap attributes;
  std::vector<Region> regions;
  Location location;
};

struct Function {
  std::string name;
  bool is_public = true;
  FunctionType type;
  std::vector<AttributeMap> argument_attributes, result_attributes;  // One a value, most of them empty.
  Region body;  // Its block's arguments are the inputs. A declaration has none.
  bool has_body() const { return !body.blocks.empty(); }
};

struct Program {
  std::string name;         // "jit_f"; empty: none.
  AttributeMap attributes;  // mhlo.num_partitions, mhlo.num_replicas, ...
  std::vector<Function> functions;
  std::vector<Operation> others;  // sdy.mesh and the like.
  ValueId values = 0;             // Ids are below it.
  // Numbers that it states choose its branches (the platform's): they are followed where they go.
  bool branches_are_known = false;
};

// Text as JAX, PyTorch/XLA and MLIR's own printers write it, in the pretty form, the generic form, or both
// mixed. Errors are "line:column: what is there, and what was expected".
absl::StatusOr<Program> ParseText(std::string_view text);
// Whether a text is MLIR rather than HLO: its first word is module, func.func, "builtin.module", sdy.mesh, or
// an alias
// (#loc, !type).
bool IsStablehloText(std::string_view text);

// A portable artifact (MLIR bytecode of the VHLO dialect), as jax.export and StableHLO's serialize write it,
// from version 0.9.0 on. Errors name the section or the operation, and the byte.
absl::StatusOr<Program> ParseBytecode(std::string_view bytes);
bool IsBytecode(std::string_view bytes);

// What jax.export's Exported.serialize() gives: an artifact with what JAX says of its arguments. The program
// takes the function's arguments in the order of its flattened tree, also those that nothing uses; of several
// platforms it has the CPU's. Errors name the byte or the argument.
absl::StatusOr<Program> ParseExported(std::string_view bytes);
// Whether the bytes are that, and the artifact is there.
bool IsExported(std::string_view bytes);

}  // namespace hlod::stablehlo
