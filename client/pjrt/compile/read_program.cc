// Reads programs.
#include "client/pjrt/compile/read_program.h"

#include <algorithm>
#include <utility>

#include "client/import/convert/decoration.h"
#include "client/import/import.h"
#include "client/import/program/attribute_text.h"
#include "client/import/program/operation.h"
#include "client/pjrt/ffi/foreign_calls.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt {
namespace {

// Returns the layout that a program asks for, empty when it leaves it to the compiler.
absl::StatusOr<DimensionOrder> StatedOrder(const stablehlo::AttributeMap& attributes,
                                           const stablehlo::Type& type) {
  const stablehlo::Attribute* const stated = stablehlo::Find(attributes, "mhlo.layout_mode");
  if (stated == nullptr) return DimensionOrder();
  const std::string mode = stablehlo::PlainText(*stated);
  if (mode == "default" || mode == "auto") return DimensionOrder();
  return ParseOrder(mode, type.dims.size());
}

struct Stated {
  std::vector<std::string> kinds, shardings;
  std::vector<DimensionOrder> orders;
};

absl::StatusOr<Stated> StatedBy(const std::vector<stablehlo::AttributeMap>& values,
                                const std::vector<stablehlo::Type>& types, const stablehlo::Meshes& meshes) {
  Stated stated;
  for (size_t i = 0; i < types.size(); ++i) {
    static const stablehlo::AttributeMap kNone;
    const stablehlo::AttributeMap& attributes = i < values.size() ? values[i] : kNone;
    ASSIGN_OR_RETURN(stated.orders.emplace_back(), StatedOrder(attributes, types[i]));
    const stablehlo::Attribute* const kind = stablehlo::Find(attributes, "mhlo.memory_kind");
    stated.kinds.push_back(kind == nullptr ? "" : stablehlo::PlainText(*kind));
    stablehlo::Decoration decoration;
    decoration.Take(attributes, meshes, types[i]);
    stated.shardings.push_back(decoration.sharding);
  }
  return stated;
}

}  // namespace

absl::StatusOr<ReadProgram> ReadProgramFrom(std::string_view code, std::string_view format) {
  if (format != "mlir" && format != "hlo") {
    return InvalidArgument("The program's format is \"%s\"; hlod takes \"mlir\" (StableHLO) and \"hlo\".",
                           format);
  }
  ReadProgram read;
  const bool is_bytecode = stablehlo::IsBytecode(code);
  if (!is_bytecode && !stablehlo::IsStablehloText(code)) {
    ASSIGN_OR_RETURN(read.module, ReadModule(code, {.for_execution = true}));
    return read;
  }
  absl::StatusOr<stablehlo::Program> program =
      is_bytecode ? stablehlo::ParseBytecode(code) : stablehlo::ParseText(code);
  if (!program.ok()) return AsProgramError(program.status());
  NoteAliases(*program);
  absl::StatusOr<std::unique_ptr<hlo::Module>> module = stablehlo::ToHlo(*program, {.for_execution = true});
  if (!module.ok()) return AsProgramError(module.status());
  read.module = *std::move(module);
  const auto entry = std::ranges::find(program->functions, "main", &stablehlo::Function::name);
  if (entry == program->functions.end()) return read;
  const stablehlo::Meshes meshes = stablehlo::MeshesOf(*program);
  ASSIGN_OR_RETURN(Stated arguments, StatedBy(entry->argument_attributes, entry->type.inputs, meshes));
  ASSIGN_OR_RETURN(Stated results, StatedBy(entry->result_attributes, entry->type.results, meshes));
  read.argument_kinds = std::move(arguments.kinds);
  read.argument_shardings = std::move(arguments.shardings);
  read.argument_orders = std::move(arguments.orders);
  read.result_kinds = std::move(results.kinds);
  read.result_shardings = std::move(results.shardings);
  read.result_orders = std::move(results.orders);
  return read;
}

}  // namespace hlod::pjrt
