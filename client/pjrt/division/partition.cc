// Wraps a program between gathered arguments and divided results.
#include "client/pjrt/division/partition.h"

#include <optional>
#include <utility>

#include "client/pjrt/compile/notes.h"
#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "common/hlo/proto/tiling.h"
#include "common/hlo/text/shardy.h"

namespace hlod::pjrt {
namespace {

using hlo::Builder;
using hlo::Op;

// Appends a custom call of one array, which the daemon's passes know.
Op Convert(Builder& b, std::string target, Op x, const std::string& sharding, const hlo::Shape& shape) {
  const Op call = b.Add(hlo::Opcode::kCustomCall, {&x, 1},
                        hlo::CustomCallAttributes{.target = std::move(target), .api_version = 1}, {}, &shape);
  if (b.status().ok()) b.mutable_notes(call).sharding = sharding;
  return call;
}

// Returns the shape of a partition's part of `whole`.
absl::StatusOr<hlo::Shape> PartOf(const hlo::Shape& whole, const std::string& sharding, int partitions) {
  if (sharding.empty() || !whole.IsArray()) return whole;
  ASSIGN_OR_RETURN(const hlo::Tiling tiling, hlo::TilingOf(sharding, whole.dims.size(), partitions));
  hlo::Shape part = whole;
  for (size_t d = 0; d < part.dims.size(); ++d) {
    if (part.dims[d] % tiling.parts[d] != 0) {
      return Unimplemented(
          "%s is divided into %d parts along dimension %d, which do not have one size. This needs XLA's "
          "partitioner: install jaxlib for this Python, or name one that has it in HLOD_PYTHON.",
          hlo::ToStringNoLayout(whole), tiling.parts[d], d);
    }
    part.dims[d] /= tiling.parts[d];
  }
  return part;
}

// Returns the sharding of a value that a manual computation joined, or that a constraint divides; else empty.
std::string ShardingOf(hlo::Instruction value, const hlo::Meshes& meshes) {
  uint32_t index = 0;
  if (value.opcode() == hlo::Opcode::kGetTupleElement) {
    index = static_cast<uint32_t>(value.attributes<hlo::TupleIndexAttributes>().index);
    value = value.operand(0);
  }
  const hlo::Notes* const notes = NotesOf(value);
  if (value.opcode() != hlo::Opcode::kCustomCall || notes == nullptr) return "";
  const std::string& target = value.attributes<hlo::CustomCallAttributes>().target;
  if (target == "Sharding") return notes->sharding;
  if (target != "xla.sdy.LocalToGlobalShape") return "";
  const std::string text = AttributeOr(notes->frontend_attributes, "xla.sdy.out_shardings");
  const std::vector<std::string_view> shardings = hlo::SplitShardings(text);
  if (index >= shardings.size()) return "";
  const hlo::Shape& shape = value.shape().IsTuple() ? value.shape().tuple[index] : value.shape();
  return hlo::OpShardingOf(shardings[index], meshes, shape.dims.size()).value_or("");
}

class Wrapper {
 public:
  Wrapper(ReadProgram& program, int partitions)
      : program_(program),
        module_(*program.module),
        partitions_(partitions),
        callee_(module_.entry_id()),
        signature_(module_.entry().program_shape()) {}

  absl::Status Wrap() {
    TakeArguments();
    TakeResults();
    Builder b(module_, "partition");
    std::vector<Op> arguments;
    std::vector<hlo::Shape> parts;
    for (size_t i = 0; i < signature_.parameters.size(); ++i) {
      const std::string& sharding = program_.argument_shardings[i];
      const hlo::Shape& whole = signature_.parameters[i];
      ASSIGN_OR_RETURN(const hlo::Shape part, PartOf(whole, sharding, partitions_));
      Op argument = b.Parameter(static_cast<int64_t>(i), part,
                                i < signature_.parameter_names.size() ? signature_.parameter_names[i] : "");
      if (!hlo::Compatible(part, whole))
        argument = Convert(b, "SPMDShardToFullShape", argument, sharding, whole);
      arguments.push_back(argument);
      parts.push_back(part);
    }
    const Op result = b.Call(arguments, callee_);
    RETURN_IF_ERROR(b.status());
    const bool is_tuple = signature_.result.IsTuple();
    std::vector<Op> results;
    std::vector<hlo::Shape> result_parts;
    for (size_t i = 0; i < program_.result_shardings.size(); ++i) {
      const Op whole = is_tuple ? b.GetTupleElement(result, static_cast<int64_t>(i)) : result;
      ASSIGN_OR_RETURN(const Op cut, Cut(b, whole, program_.result_shardings[i]));
      results.push_back(cut);
      result_parts.push_back(b.shape(cut));
    }
    KeepAliases(parts, result_parts, is_tuple);
    module_.config.entry_layout = {};
    module_.config.partition_count = partitions_;
    RETURN_IF_ERROR(b.Build(is_tuple ? b.Tuple(results) : results[0]));
    module_.set_entry(b.id());
    return absl::OkStatus();
  }

 private:
  void TakeArguments() {
    const hlo::Computation& entry = module_.entry();
    program_.argument_shardings.resize(signature_.parameters.size());
    for (size_t i = 0; i < program_.argument_shardings.size(); ++i) {
      const hlo::Notes* const notes = NotesOf(entry[entry.parameters()[i]]);
      if (program_.argument_shardings[i].empty() && notes != nullptr)
        program_.argument_shardings[i] = notes->sharding;
    }
  }

  void TakeResults() {
    const hlo::Meshes meshes =
        hlo::ParseMeshes(AttributeOr(module_.config.frontend_attributes, "xla.sdy.meshes"));
    const hlo::Computation& entry = module_.entry();
    const bool is_tuple = signature_.result.IsTuple();
    program_.result_shardings.resize(is_tuple ? signature_.result.tuple.size() : 1);
    for (size_t i = 0; i < program_.result_shardings.size(); ++i) {
      std::string& sharding = program_.result_shardings[i];
      if (!sharding.empty()) continue;
      if (!is_tuple) {
        sharding = ShardingOf(entry.root(), meshes);
      } else if (entry.root().opcode() == hlo::Opcode::kTuple) {
        sharding = ShardingOf(entry.root().operand(static_cast<uint32_t>(i)), meshes);
      }
    }
  }

  absl::StatusOr<Op> Cut(Builder& b, Op whole, const std::string& sharding) const {
    const hlo::Shape shape = b.shape(whole);
    ASSIGN_OR_RETURN(const hlo::Shape part, PartOf(shape, sharding, partitions_));
    if (hlo::Compatible(part, shape)) return whole;
    return Convert(b, "SPMDFullToShardShape", Convert(b, "Sharding", whole, sharding, shape), sharding, part);
  }

  // A result whose part has another shape than the argument's cannot take its memory. The program still
  // consumes the argument.
  void KeepAliases(const std::vector<hlo::Shape>& arguments, const std::vector<hlo::Shape>& results,
                   bool is_tuple) {
    std::vector<hlo::InputOutputAlias> kept;
    for (const hlo::InputOutputAlias& alias : module_.config.input_output_alias) {
      const size_t result =
          is_tuple && !alias.output_index.empty() ? static_cast<size_t>(alias.output_index[0]) : 0;
      if (hlo::Compatible(arguments[static_cast<size_t>(alias.parameter_number)], results[result])) {
        kept.push_back(alias);
      } else {
        module_.config.buffer_donors.push_back({.parameter_number = alias.parameter_number});
      }
    }
    module_.config.input_output_alias = std::move(kept);
  }

  ReadProgram& program_;
  hlo::Module& module_;
  const int partitions_;
  const hlo::ComputationId callee_;
  const hlo::ProgramShape signature_;
};

}  // namespace

absl::Status Partition(ReadProgram& program, int partitions) { return Wrapper(program, partitions).Wrap(); }

}  // namespace hlod::pjrt
