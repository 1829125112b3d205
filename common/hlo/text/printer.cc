// Prints modules as HLO text: XLA's short parsable form.
#include "common/base/text/strings.h"
#include "common/hlo/names/spelling.h"
#include "common/hlo/names/unique_names.h"
#include "common/hlo/proto/notes.h"
#include "common/hlo/proto/residue.h"
#include "common/hlo/text/async_form.h"
#include "common/hlo/text/internal.h"
#include "common/hlo/text/stack_frames.h"
#include "google/protobuf/stubs/common.h"

namespace hlod::hlo {
namespace {

using absl::StrAppend;

// The number of elements above which a constant is elided when large_constants is false.
constexpr int64_t kElidedAbove = 10;

class Printer {
 public:
  Printer(const Module& module, const PrintOptions& options)
      : module_(module),
        options_(options),
        names_(codec::UniqueNames(module, /*identifiers=*/true)),
        async_(module) {}

  std::string PrintModule() {
    PrintHeader();
    for (ComputationId id = 0; id < module_.computation_count(); ++id) {
      if (!async_.IsFolded(id)) PrintComputation(id);
    }
    return std::move(out_);
  }

  std::string PrintOne(Instruction instruction) {
    ComputationId id = 0;
    while (id < module_.computation_count() && &module_.computation(id) != &instruction.computation()) ++id;
    if (id < module_.computation_count()) PrintInstruction(instruction, id);
    return std::move(out_);
  }

 private:
  std::string ShapeText(const Shape& shape) const {
    return options_.layouts ? ToString(shape) : ToStringNoLayout(shape);
  }

  void PrintHeader() {
    std::string name = module_.name().empty() ? "module" : module_.name();
    for (char& c : name) {
      if (!codec::IsNameCharacter(c)) c = '_';
    }
    StrAppend(&out_, "HloModule ", name);
    if (module_.config.is_scheduled) out_ += ", is_scheduled=true";
    PrintAliases();
    if (module_.config.entry_layout.result.type != kInvalid) {
      out_ += ", entry_computation_layout={(";
      const std::vector<Shape>& parameters = module_.config.entry_layout.parameters;
      for (size_t i = 0; i < parameters.size(); ++i) {
        if (i != 0) out_ += ", ";
        if (i != 0 && i % 5 == 0) StrAppend(&out_, "/*index=", i, "*/");
        out_ += ShapeText(parameters[i]);
      }
      StrAppend(&out_, ")->", ShapeText(module_.config.entry_layout.result), "}");
    }
    if (module_.config.replica_count != 1) StrAppend(&out_, ", replica_count=", module_.config.replica_count);
    if (module_.config.partition_count != 1)
      StrAppend(&out_, ", num_partitions=", module_.config.partition_count);
    if (!module_.config.frontend_attributes.empty()) {
      StrAppend(&out_, ", frontend_attributes=", text::StringMapText(module_.config.frontend_attributes));
    }
    out_ += '\n';
    xla::HloModuleProto rest;
    if (options_.metadata && rest.ParseFromString(module_.config.unmodelled))
      out_ += text::StackFramesText(rest.stack_frame_index());
  }

  void PrintAliases() {
    if (!module_.config.input_output_alias.empty()) {
      out_ += ", input_output_alias={ ";
      bool first = true;
      for (const InputOutputAlias& alias : module_.config.input_output_alias) {
        StrAppend(&out_, first ? "" : ", ", text::DimsText(alias.output_index), ": (", alias.parameter_number,
                  ", ", text::DimsText(alias.parameter_index),
                  alias.must_alias ? ", must-alias)" : ", may-alias)");
        first = false;
      }
      out_ += " }";
    }
    if (!module_.config.buffer_donors.empty()) {
      out_ += ", buffer_donor={ ";
      bool first = true;
      for (const BufferDonor& donor : module_.config.buffer_donors) {
        StrAppend(&out_, first ? "" : ", ", "(", donor.parameter_number, ", ",
                  text::DimsText(donor.parameter_index), ")");
        first = false;
      }
      out_ += " }";
    }
  }

  void PrintComputation(ComputationId id) {
    const Computation& computation = module_.computation(id);
    StrAppend(&out_, "\n", id == module_.entry_id() ? "ENTRY " : "", names_.computations[id], " {\n");
    for (NodeId node = 0; node < computation.size(); ++node) {
      out_ += node == computation.root_id() ? "  ROOT " : "  ";
      PrintInstruction(computation[node], id);
      out_ += '\n';
    }
    out_ += '}';
    if (!computation.config.execution_thread.empty()) {
      StrAppend(&out_, ", execution_thread=", QuotedText(computation.config.execution_thread));
    }
    out_ += '\n';
  }

  void PrintInstruction(Instruction instruction, ComputationId id) {
    const std::vector<std::string>& names = names_.instructions[id];
    StrAppend(&out_, names[instruction.id()], " = ", ShapeText(instruction.shape()), " ",
              async_.OpcodeText(instruction), "(");
    if (instruction.opcode() == kConstant) {
      PrintConstant(instruction.literal());
    } else if (instruction.opcode() == kParameter) {
      StrAppend(&out_, instruction.parameter_number());
    }
    for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
      if (i != 0) out_ += ", ";
      if (i != 0 && i % 5 == 0 && instruction.operand_count() > 5 && instruction.opcode() == kTuple) {
        StrAppend(&out_, "/*index=", i, "*/");
      }
      out_ += names[instruction.operands()[i]];
    }
    out_ += ')';
    const bool is_start = instruction.opcode() == kAsyncStart;
    const Instruction said = is_start ? async_.Wrapped(instruction).value_or(instruction) : instruction;
    PrintAttributes(said);
    PrintNotesBeforeCallees(instruction);
    PrintCallees(said);
    PrintNotes(instruction, names);
  }

  void PrintConstant(const Literal& literal) {
    int64_t elements = 0;
    for (const Literal* leaf : literal.Leaves()) elements += leaf->element_count();
    out_ += options_.large_constants || elements <= kElidedAbove ? ToText(literal) : "{...}";
  }

  // Prints ", name=value" unless the value is left out.
  template <typename Print>
  void PrintAttribute(std::string_view name, Print print) {
    std::string value;
    print(value);
    if (!value.empty()) StrAppend(&out_, ", ", ToAbsl(name), "=", value);
  }

  void PrintFields(Instruction instruction, bool late) {
    for (const text::Field& field : text::FieldsOf(instruction.opcode())) {
      if (field.late != late) continue;
      PrintAttribute(field.name, [&](std::string& value) { field.print(instruction.attributes(), value); });
    }
  }

  void PrintAttributes(Instruction instruction) {
    PrintFields(instruction, false);
    if (instruction.opcode() == kCompare && instruction.operand_count() > 0) {
      const ComparisonType type = instruction.attributes<CompareAttributes>().type;
      if (type != DefaultComparisonType(instruction.operand(0).shape().type)) {
        StrAppend(&out_, ", type=", ToAbsl(ComparisonTypeName(type)));
      }
    }
  }

  void PrintCallees(Instruction instruction) {
    const absl::Span<const ComputationId> called = instruction.called();
    if (called.empty()) return;
    const bool pred_selector = instruction.opcode() == kConditional && called.size() == 2 &&
                               instruction.operand_count() > 0 &&
                               instruction.operand(0).shape().type == kPred;
    size_t printed = 0;
    for (const text::CalleeField& field : text::CalleesOf(instruction.opcode(), pred_selector)) {
      if (printed == called.size()) return;
      if (field.index >= 0) {
        StrAppend(&out_, ", ", ToAbsl(field.name), "=", names_.computations[called[field.index]]);
        ++printed;
        continue;
      }
      StrAppend(&out_, ", ", ToAbsl(field.name), "={");
      for (size_t i = 0; i < called.size(); ++i)
        StrAppend(&out_, i == 0 ? "" : ", ", names_.computations[called[i]]);
      out_ += '}';
      printed = called.size();
    }
  }

  void PrintCarried(const xla::HloInstructionProto& proto, bool early) {
    for (const text::CarriedField& field : text::CarriedFields()) {
      if (field.print != nullptr && field.early == early)
        PrintAttribute(field.name, [&](std::string& value) { field.print(proto, value); });
    }
  }

  void PrintNotesBeforeCallees(Instruction instruction) {
    const Notes* notes = instruction.computation().notes(instruction.id());
    if (notes == nullptr || notes->unmodelled.empty()) return;
    xla::HloInstructionProto proto;
    codec::EncodeNotes(*notes, &proto);
    PrintCarried(proto, /*early=*/true);
  }

  void PrintNotes(Instruction instruction, const std::vector<std::string>& names) {
    const Notes* notes = instruction.computation().notes(instruction.id());
    xla::HloInstructionProto proto;
    if (notes != nullptr) codec::EncodeNotes(*notes, &proto);
    PrintCarried(proto, /*early=*/false);
    if (instruction.opcode() == kCustomCall) {
      for (const text::CarriedField& field : text::CustomCallFields())
        PrintAttribute(field.name, [&](std::string& value) { field.print(proto, value); });
    }
    PrintFields(instruction, true);
    if (proto.has_sharding()) {
      PrintAttribute("sharding", [&](std::string& value) { value = text::ShardingText(proto.sharding()); });
    }
    if (notes != nullptr && !notes->frontend_attributes.empty()) {
      StrAppend(&out_, ", frontend_attributes=", text::StringMapText(notes->frontend_attributes));
    }
    if (notes != nullptr && !notes->control_predecessors.empty()) {
      out_ += ", control-predecessors={";
      for (size_t i = 0; i < notes->control_predecessors.size(); ++i) {
        StrAppend(&out_, i == 0 ? "" : ", ", names[notes->control_predecessors[i]]);
      }
      out_ += '}';
    }
    const auto* call = std::get_if<CustomCallAttributes>(&instruction.attributes());
    PrintBackendConfig(call != nullptr ? call->backend_config : proto.backend_config());
    if (options_.metadata) {
      const std::string metadata = text::MetadataText(proto.metadata());
      if (metadata != "{}") StrAppend(&out_, ", metadata=", metadata);
    }
    PrintOmissions(proto, call != nullptr);
  }

  // JSON is printed unquoted, so that people can read it, when the parser reads it back unchanged.
  void PrintBackendConfig(const std::string& config) {
    if (config.empty()) return;
    Lexer lexer(config);
    const bool json =
        config[0] == '{' && lexer.Braces().ok() && lexer.remaining() == 0 &&
        google::protobuf::internal::IsStructurallyValidUTF8(config.data(), static_cast<int>(config.size()));
    StrAppend(&out_, ", backend_config=", json ? config : QuotedText(config));
  }

  // Prints a comment with the fields that this text leaves out of an instruction and that may matter to
  // others. `call`: it is a custom call.
  void PrintOmissions(const xla::HloInstructionProto& proto, bool call) {
    using P = xla::HloInstructionProto;
    static const codec::FieldSet shown = codec::FieldsOf(
        {P::kMetadataFieldNumber, P::kShardingFieldNumber, P::kFrontendAttributesFieldNumber,
         P::kBackendConfigFieldNumber, P::kStatisticsVizFieldNumber, P::kOriginalValueFieldNumber,
         P::kParameterReplicationFieldNumber, P::kConstrainLayoutFieldNumber,
         P::kOperandShapesWithLayoutFieldNumber, P::kOutputOperandAliasingFieldNumber,
         P::kCustomCallScheduleFieldNumber, P::kAsyncExecutionThreadFieldNumber,
         P::kCrossProgramPrefetchIndexFieldNumber, P::kIsCrossProgramPrefetchFieldNumber,
         // XLA writes these fields with their defaults on custom-calls too, where they have no meaning.
         P::kFeatureGroupCountFieldNumber, P::kBatchGroupCountFieldNumber, P::kPrecisionConfigFieldNumber});
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    proto.GetReflection()->ListFields(proto, &fields);
    std::string omitted;
    for (const auto* field : fields) {
      const bool of_call = call && (field->number() == P::kWindowFieldNumber ||
                                    field->number() == P::kConvolutionDimensionNumbersFieldNumber);
      if (!shown[field->number()] && !of_call)
        StrAppend(&omitted, omitted.empty() ? "" : ", ", field->name());
    }
    if (proto.has_sharding() && text::ShardingText(proto.sharding()).empty())
      omitted += omitted.empty() ? "sharding" : ", sharding";
    if (!omitted.empty()) StrAppend(&out_, " /* without ", omitted, " */");
  }

  const Module& module_;
  const PrintOptions options_;
  const codec::ModuleNames names_;
  const text::AsyncForms async_;
  std::string out_;
};

}  // namespace

std::string ToText(const Module& module, const PrintOptions& options) {
  return Printer(module, options).PrintModule();
}

std::string ToText(Instruction instruction, const Module& module, const PrintOptions& options) {
  return Printer(module, options).PrintOne(instruction);
}

}  // namespace hlod::hlo
