// A StableHLO program as operations: the output of the readers of text and of bytecode, and the input of the
// conversion to HLO. Names and attributes are StableHLO's; an operation's attributes are flat, as in the
// portable dialect (VHLO): the fields of #stablehlo.dot<...>, .conv<...>, .gather<...>, .scatter<...> and
// .channel_handle<...> are among the others (lhs_contracting_dimensions, index_vector_dim, channel_id).
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

// A type is an HLO shape without layout: tensors, tuples and tokens. An unknown dimension, as in
// tensor<?x4xf32>, has kUnboundedSize, or its bound when #stablehlo.bounds<...> (text) or an encoding
// (bytecode) states one.
using Type = hlo::Shape;
struct FunctionType {
  std::vector<Type> inputs, results;
};

struct Attribute;
using AttributeMap = std::map<std::string, Attribute, std::less<>>;
using Integers = std::vector<int64_t>;  // array<i64: 1, 2>, dense<[1, 2]> : tensor<2xi64>, [1, 2].
// An enumerator in upper case: EQ, FLOAT, DEFAULT, FFT, NO_TRANSPOSE. For api_version it is a number: "4" is
// TYPED_FFI.
struct Word {
  std::string text;
};
struct Symbol {
  std::string name;  // Without the @.
};
// An array of one repeated element that is not expanded, because it may be larger than memory.
struct Splat {
  hlo::Literal element;  // A scalar.
  Type type;
};
struct Attribute {
  // monostate is a unit attribute. Lists of bools (window_reversal) are Integers of 0 and 1; [n, 2] integers
  // (padding, source_target_pairs) and replica_groups are a Literal; a constant's value is a Literal of its
  // tensor's shape, or a Splat when that is large (IsLargeSplat). Attributes that hlod does not use (Shardy's
  // rules, locations, result_accuracy) may be a Word of their text.
  std::variant<std::monostate, bool, int64_t, double, std::string, Word, Symbol, Integers, hlo::Literal,
               Splat, Type, FunctionType, std::vector<Attribute>, std::shared_ptr<AttributeMap>>
      value;
  // The type that an integer, a float or Integers states (76 : ui8, 0.95 : f32, array<i32: 1>); kInvalid:
  // none. The text of a custom call's backend_config contains it.
  hlo::PrimitiveType type = hlo::kInvalid;
};
// Return the attribute of a name, alone or as a dictionary; null when it is missing or of another kind.
inline const Attribute* Find(const AttributeMap& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : &found->second;
}
inline const AttributeMap* MapOf(const Attribute* attribute) {
  if (attribute == nullptr) return nullptr;
  const auto* const map = std::get_if<std::shared_ptr<AttributeMap>>(&attribute->value);
  return map == nullptr ? nullptr : map->get();
}

// Values are numbered over the whole program, in the order of their definitions.
using ValueId = int32_t;
struct Value {
  ValueId id = -1;
  Type type;
};

struct Operation;
struct Block {
  std::vector<Value> arguments;
  // The name that each argument's location states, such as JAX's "params['w']". Arguments beyond the end of
  // the list have none.
  std::vector<std::string> argument_names;
  std::vector<Operation> operations;  // Ends with a terminator: stablehlo.return, func.return, sdy.return.
};
struct Region {
  std::vector<Block> blocks;  // Exactly one in StableHLO's operations.
};

// The location of an operation in the program's source (loc(...)), and, for errors, in the file that was
// read.
struct Location {
  std::string name;  // The scope: "jit(f)/jit(main)/add". Empty: none.
  std::string file;  // Empty: none.
  int line = 0;
  int read_line = 0, read_column = 0;  // The position in a text; 0: read from bytecode.
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
  std::vector<AttributeMap> argument_attributes, result_attributes;  // One per value; most are empty.
  Region body;  // The block's arguments are the inputs. A declaration has no block.
  bool has_body() const { return !body.blocks.empty(); }
};

struct Program {
  std::string name;         // The name, such as "jit_f"; empty for none.
  AttributeMap attributes;  // mhlo.num_partitions, mhlo.num_replicas, ...
  std::vector<Function> functions;
  std::vector<Operation> others;  // sdy.mesh and similar operations.
  ValueId values = 0;             // All value ids are below it.
  // True when constants of the program select its branches (such as the platform's): they are propagated into
  // the functions that it calls.
  bool branches_are_known = false;
};

// Reads text as JAX, PyTorch/XLA and MLIR's own printers write it, in the pretty form, the generic form, or
// both mixed. Errors have the form "line:column: found, and expected".
absl::StatusOr<Program> ParseText(std::string_view text);
// Returns true when a text is MLIR rather than HLO: its first word is module, func.func, "builtin.module",
// sdy.mesh, or an alias (#loc, !type).
bool IsStablehloText(std::string_view text);

// Reads a portable artifact (MLIR bytecode of the VHLO dialect), as jax.export and StableHLO's serialize
// write it from version 0.9.0 on. Errors name the section or the operation, and the byte.
absl::StatusOr<Program> ParseBytecode(std::string_view bytes);
bool IsBytecode(std::string_view bytes);

// Reads the result of jax.export's Exported.serialize(): an artifact with JAX's description of its arguments.
// The program takes the function's arguments in the order of the flattened tree, including unused ones; of
// several platforms it is the CPU's. Errors name the byte or the argument.
absl::StatusOr<Program> ParseExported(std::string_view bytes);
// Returns true when the bytes have that form and contain the artifact.
bool IsExported(std::string_view bytes);

}  // namespace hlod::stablehlo
