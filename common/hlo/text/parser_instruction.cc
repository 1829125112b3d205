// Parses instructions from HLO text: shape, opcode, operands, and attributes by the tables.
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/base/text/edit_distance.h"
#include "common/base/text/strings.h"
#include "common/hlo/names/spelling.h"
#include "common/hlo/proto/notes.h"
#include "common/hlo/proto/residue.h"
#include "common/hlo/text/internal.h"
#include "common/hlo/text/parser_internal.h"

namespace hlod::hlo::text {
namespace {

// Returns "; the nearest is add", or an empty string when no name is near.
template <typename Names>
std::string Nearest(std::string_view given, const Names& names) {
  constexpr size_t kLengthMax = 64;  // No name is as long, and a file may have one of megabytes.
  if (given.size() > kLengthMax) return "";
  std::string_view nearest;
  size_t least = given.size() / 3 + 1;
  for (const std::string_view name : names) {
    const size_t distance = EditDistance(given, name);
    if (distance > least || (distance == least && !nearest.empty())) continue;
    least = distance;
    nearest = name;
  }
  return nearest.empty() ? "" : "; the nearest is " + std::string(nearest);
}
std::string NearestOpcode(std::string_view given) {
  std::vector<std::string_view> names;
  for (int opcode = 0; opcode < kOpcodeCount; ++opcode) names.push_back(Name(static_cast<Opcode>(opcode)));
  return Nearest(given, names);
}
std::string NearestField(Opcode opcode, std::string_view given) {
  std::vector<std::string_view> names;
  for (const Field& field : FieldsOf(opcode)) names.push_back(field.name);
  return Nearest(given, names);
}

using absl::OkStatus;
using absl::Status;

class InstructionReader {
 public:
  InstructionReader(Lexer& lexer, const ParseOptions& options, int depth, Tables& tables,
                    ParsedModule& module, ParsedComputation& computation)
      : lexer_(lexer),
        options_(options),
        depth_(depth),
        tables_(tables),
        module_(module),
        computation_(computation) {}

  // Reads "ROOT name = shape opcode(operands), attributes". Instructions among its operands are appended to
  // the computation.
  Status Read(ParsedInstruction& out) {
    out_ = &out;
    out.is_root = lexer_.TryWord("ROOT");
    lexer_.SkipBlanks();
    out.at = lexer_.position();
    ASSIGN_OR_RETURN(out.name, lexer_.Name());
    out.notes.name = out.name;
    RETURN_IF_ERROR(lexer_.Expect("="));
    return ReadRest(/*nested=*/false);
  }

  // Reads an instruction that is a whole text, with or without a name, whose operands are shapes of
  // parameters, with or without names. Their parameters are appended to the computation.
  Status ReadAlone(ParsedInstruction& out) {
    alone_ = &parameters_;
    if (!AtShape(lexer_)) return Read(out);
    out_ = &out;
    out.at = lexer_.position();
    out.is_root = true;
    out.name = "(root)";  // A name that no text can have.
    out.notes.name = "root";
    return ReadRest(/*nested=*/false);
  }

 private:
  // Reads "shape opcode(operands), attributes"; without the attributes if it is nested in another
  // instruction.
  Status ReadRest(bool nested) {
    ParsedInstruction& out = *out_;
    if (AtShape(lexer_)) {
      ASSIGN_OR_RETURN(out.shape, ReadShape(lexer_, options_.nesting_max));
    }
    lexer_.SkipBlanks();
    const size_t at = lexer_.position();
    ASSIGN_OR_RETURN(const std::string_view name, lexer_.Name());
    std::optional<Opcode> opcode = ParseOpcode(name);
    const std::optional<AsyncName> async = opcode ? std::nullopt : ParseAsyncName(name);
    if (async) opcode = async->half == kAsyncStart ? async->wrapped : async->half;
    if (!opcode)
      return lexer_.At(
          at, Unimplemented("opcode \"%s\" is not known to this build%s", name, NearestOpcode(name)));
    out.opcode = *opcode;
    out.attributes = DefaultAttributes(*opcode);
    if (!out.shape && (*opcode == kConstant || *opcode == kParameter)) {
      return lexer_.ErrorAt(at, "%s needs its shape written before it", name);
    }
    RETURN_IF_ERROR(ReadOperands());
    if (!nested) RETURN_IF_ERROR(ReadAttributes());
    RETURN_IF_ERROR(CheckAttributes());
    RETURN_IF_ERROR(FinishNotes());
    return async && async->half == kAsyncStart ? Wrap() : OkStatus();
  }

  // A name such as "negate-start", XLA's short form of asynchronous instructions that wrap one instruction.
  struct AsyncName {
    Opcode half, wrapped;
  };
  static std::optional<AsyncName> ParseAsyncName(std::string_view name) {
    static constexpr std::pair<std::string_view, Opcode> kHalves[] = {
        {"-start", kAsyncStart}, {"-update", kAsyncUpdate}, {"-done", kAsyncDone}};
    for (const auto& [suffix, half] : kHalves) {
      if (!name.ends_with(suffix)) continue;
      const std::optional<Opcode> wrapped = ParseOpcode(name.substr(0, name.size() - suffix.size()));
      if (wrapped && *wrapped != kConstant && *wrapped != kParameter) return AsyncName{half, *wrapped};
    }
    return std::nullopt;
  }

  // Moves the parsed instruction into a new computation, which an async-start of the same operands and shape
  // calls.
  Status Wrap() {
    const bool states_both = out_->shape && out_->shape->IsTuple() && out_->shape->tuple.size() >= 2 &&
                             out_->shape->tuple[0].IsTuple() &&
                             out_->shape->tuple[0].tuple.size() == out_->operands.size();
    if (!states_both) {
      return lexer_.ErrorAt(out_->at, "%s-start needs its shape: ((operands), result, ...)",
                            Name(out_->opcode));
    }
    ParsedComputation callee;
    callee.name = absl::StrCat(out_->name, ".wrapped");
    callee.at = out_->at;
    callee.execution_thread = async_thread_;
    ParsedInstruction wrapped;
    for (size_t i = 0; i < out_->operands.size(); ++i) {
      ParsedInstruction& parameter = callee.instructions.emplace_back();
      parameter.name = absl::StrCat("async_param.", i);
      parameter.notes.name = parameter.name;
      parameter.at = out_->at;
      parameter.opcode = kParameter;
      parameter.shape = out_->shape->tuple[0].tuple[i];
      parameter.attributes = ParameterAttributes{static_cast<int64_t>(i)};
      wrapped.operands.push_back(
          {.name = module_.names.emplace_back(parameter.name), .at = out_->operands[i].at, .in_place = {}});
    }
    wrapped.name = wrapped.notes.name = "async_wrapped";
    wrapped.at = out_->at;
    wrapped.is_root = true;
    wrapped.shape = out_->shape->tuple[1];
    wrapped.opcode = std::exchange(out_->opcode, kAsyncStart);
    wrapped.attributes = std::exchange(out_->attributes, NoAttributes{});
    wrapped.states_comparison_type = out_->states_comparison_type;
    wrapped.called = std::exchange(out_->called, {});
    callee.instructions.push_back(std::move(wrapped));
    out_->called.push_back(
        {.name = {}, .at = out_->at, .in_place = static_cast<uint32_t>(module_.computations.size())});
    module_.computations.push_back(std::move(callee));
    return OkStatus();
  }

  Status ReadOperands() {
    if (out_->opcode == kConstant) {
      RETURN_IF_ERROR(lexer_.Expect("("));
      ASSIGN_OR_RETURN(Literal literal, ReadLiteral(lexer_, *out_->shape, options_.literal_bytes_max));
      out_->attributes =
          ConstantAttributes{tables_.Intern(std::make_shared<const Literal>(std::move(literal)))};
      return lexer_.Expect(")");
    }
    if (out_->opcode == kParameter) {
      RETURN_IF_ERROR(lexer_.Expect("("));
      ASSIGN_OR_RETURN(const int64_t number, lexer_.Integer());
      out_->attributes = ParameterAttributes{number};
      return lexer_.Expect(")");
    }
    return ReadList(lexer_, "(", ")", [&]() -> Status {
      lexer_.SkipBlanks();
      const size_t at = lexer_.position();
      // The long form repeats the operand's shape, which is ignored if the operand has a name.
      std::optional<Shape> shape;
      if (AtShape(lexer_)) {
        ASSIGN_OR_RETURN(shape, ReadShape(lexer_, options_.nesting_max));
      }
      Reference operand{.at = at};
      if (alone_ == nullptr || !shape || lexer_.AtName()) {
        ASSIGN_OR_RETURN(operand, ReadReference());
      }
      if (lexer_.Peek() == '(') {
        lexer_.Rewind(at);
        ASSIGN_OR_RETURN(operand, ReadNested());
      } else if (alone_ != nullptr) {
        if (!shape)
          return lexer_.ErrorAt(at, "an operand of an instruction without a module needs its shape");
        operand = ParameterFor(operand, *std::move(shape));
      }
      out_->operands.push_back(operand);
      return OkStatus();
    });
  }

  // Reads an instruction in the place of an operand, as in add(x, negate(y)), into the computation.
  absl::StatusOr<Reference> ReadNested() {
    const size_t at = lexer_.position();
    if (depth_ >= options_.nesting_max) {
      return lexer_.ErrorAt(at, "instructions nest deeper than %d levels", options_.nesting_max);
    }
    InstructionReader reader(lexer_, options_, depth_ + 1, tables_, module_, computation_);
    ParsedInstruction nested;
    nested.at = at;
    reader.out_ = &nested;
    reader.alone_ = alone_;
    RETURN_IF_ERROR(reader.ReadRest(/*nested=*/true));
    if (alone_ != nullptr && nested.opcode == kParameter) ++alone_->count;
    nested.notes.name = absl::StrCat(ToAbsl(Name(nested.opcode)), ".anon");
    return Append(std::move(nested));
  }

  // Returns the parameter of this name, or a new one that is appended to the computation.
  Reference ParameterFor(const Reference& operand, Shape shape) {
    if (!operand.name.empty() && !alone_->names.emplace(operand.name).second) return operand;
    const int64_t number = alone_->count++;
    ParsedInstruction parameter;
    parameter.at = operand.at;
    parameter.opcode = kParameter;
    parameter.shape = std::move(shape);
    parameter.attributes = ParameterAttributes{number};
    parameter.name = operand.name;
    parameter.notes.name = operand.name.empty() ? absl::StrCat("parameter.", number) : parameter.name;
    return Append(std::move(parameter));
  }

  // Appends an instruction to the computation. Without a name it gets one that no text can have.
  Reference Append(ParsedInstruction instruction) {
    if (instruction.name.empty()) instruction.name = absl::StrCat("(", computation_.instructions.size(), ")");
    const Reference reference{.name = module_.names.emplace_back(instruction.name), .at = instruction.at};
    computation_.instructions.push_back(std::move(instruction));
    return reference;
  }

  absl::StatusOr<Reference> ReadReference() {
    lexer_.SkipBlanks();
    Reference reference{.at = lexer_.position()};
    ASSIGN_OR_RETURN(reference.name, lexer_.Name());
    return reference;
  }

  // Reads the name of a computation, or a computation written in place: { ... }.
  absl::StatusOr<Reference> ReadCallee() {
    if (lexer_.Peek() != '{') return ReadReference();
    Reference reference{.at = lexer_.position()};
    if (depth_ >= options_.nesting_max) {
      return lexer_.ErrorAt(reference.at, "computations nest deeper than %d levels", options_.nesting_max);
    }
    RETURN_IF_ERROR(lexer_.Expect("{"));
    ParsedComputation callee;
    callee.name = absl::StrCat(out_->name, ".callee");
    callee.at = reference.at;
    RETURN_IF_ERROR(ReadBody(lexer_, options_, depth_ + 1, tables_, module_, callee));
    reference.in_place = static_cast<uint32_t>(module_.computations.size());
    module_.computations.push_back(std::move(callee));
    return reference;
  }

  Status ReadAttributes() {
    while (lexer_.Try(",")) {
      lexer_.SkipBlanks();
      const size_t at = lexer_.position();
      ASSIGN_OR_RETURN(const std::string_view name, lexer_.Name());
      RETURN_IF_ERROR(lexer_.Expect("="));
      if (!seen_.insert(name).second) return lexer_.ErrorAt(at, "attribute \"%s\" is given twice", name);
      ASSIGN_OR_RETURN(const bool known, ReadAttribute(name));
      if (!known)
        return lexer_.At(at, Unimplemented("attribute \"%s\" of %s is not known to this build%s", name,
                                           Name(out_->opcode), NearestField(out_->opcode, name)));
    }
    return OkStatus();
  }

  Status CheckAttributes() {
    // A broadcast without dimensions is one of a scalar (the verifier refuses it for other operands), and a
    // map without them one over all dimensions.
    const bool implied = out_->opcode == kBroadcast || out_->opcode == kMap;
    for (const Field& field : FieldsOf(out_->opcode)) {
      if (field.required && !seen_.contains(field.name) && !implied) {
        return lexer_.ErrorAt(out_->at, "%s needs the attribute \"%s\"", Name(out_->opcode), field.name);
      }
    }
    return CheckCallees();
  }

  // Returns false when no table has the name for this opcode.
  absl::StatusOr<bool> ReadAttribute(std::string_view name) {
    for (const Field& field : FieldsOf(out_->opcode)) {
      if (field.name != name) continue;
      RETURN_IF_ERROR(field.parse(lexer_, out_->attributes));
      return true;
    }
    for (const CalleeField& field : CalleesOf(out_->opcode, false)) {
      if (field.name != name) continue;
      RETURN_IF_ERROR(ReadCallees(field));
      return true;
    }
    if (out_->opcode == kCompare && name == "type") {
      RETURN_IF_ERROR(ReadComparisonType());
      return true;
    }
    if (name == "calls" && (out_->opcode == kAsyncUpdate || out_->opcode == kAsyncDone)) {
      RETURN_IF_ERROR(ReadReference().status());  // Older texts repeat the start's callee.
      return true;
    }
    for (const auto& fields :
         {out_->opcode == kCustomCall ? CustomCallFields() : absl::Span<const CarriedField>(),
          CarriedFields()}) {
      for (const CarriedField& field : fields) {
        if (field.name != name) continue;
        RETURN_IF_ERROR(field.parse != nullptr ? field.parse(lexer_, rest_) : lexer_.Braces().status());
        return true;
      }
    }
    if (name == "mode" && std::holds_alternative<CollectiveAttributes>(out_->attributes)) {
      RETURN_IF_ERROR(lexer_.Word().status());  // channel_id and use_global_device_ids say the same.
      return true;
    }
    return ReadCommonAttribute(name);
  }

  absl::StatusOr<bool> ReadCommonAttribute(std::string_view name) {
    if (name == "metadata") {
      RETURN_IF_ERROR(ReadMetadata(lexer_, *rest_.mutable_metadata()));
    } else if (name == "sharding") {
      RETURN_IF_ERROR(ReadSharding(lexer_, options_.nesting_max, *rest_.mutable_sharding()));
    } else if (name == "frontend_attributes") {
      RETURN_IF_ERROR(ReadStringMap(lexer_, out_->notes.frontend_attributes));
    } else if (name == "backend_config") {
      std::string config;
      if (lexer_.Peek() == '{') {
        ASSIGN_OR_RETURN(config, lexer_.Braces());
      } else {
        ASSIGN_OR_RETURN(config, lexer_.Quoted());
      }
      auto* call = std::get_if<CustomCallAttributes>(&out_->attributes);
      (call != nullptr ? call->backend_config : out_->notes.backend_config) = std::move(config);
    } else if (name == "control-predecessors") {
      RETURN_IF_ERROR(ReadList(lexer_, "{", "}", [&]() -> Status {
        ASSIGN_OR_RETURN(Reference predecessor, ReadReference());
        out_->control_predecessors.push_back(predecessor);
        return OkStatus();
      }));
    } else {
      return false;
    }
    return true;
  }

  Status ReadCallees(const CalleeField& field) {
    std::vector<Reference>& called = out_->called;
    if (field.index >= 0) {
      if (called.size() <= static_cast<size_t>(field.index)) called.resize(field.index + 1);
      ASSIGN_OR_RETURN(called[field.index], ReadCallee());
      return OkStatus();
    }
    called.clear();
    return ReadList(lexer_, "{", "}", [&]() -> Status {
      ASSIGN_OR_RETURN(Reference callee, ReadCallee());
      called.push_back(callee);
      return OkStatus();
    });
  }

  Status CheckCallees() {
    const int expected = Info(out_->opcode).called;
    if (expected > 0) out_->called.resize(std::max<size_t>(out_->called.size(), expected));
    for (size_t i = 0; i < out_->called.size(); ++i) {
      if (!out_->called[i].name.empty() || out_->called[i].in_place) continue;
      for (const CalleeField& field : CalleesOf(out_->opcode, false)) {
        if (field.index != static_cast<int>(i)) continue;
        return lexer_.ErrorAt(out_->at, "%s needs the attribute \"%s\"", Name(out_->opcode), field.name);
      }
    }
    // The maximum count that its bits in an instruction's first word can hold.
    constexpr size_t kMaxCalled = (1 << 24) - 1;
    if (out_->called.size() <= kMaxCalled) return OkStatus();
    return lexer_.ErrorAt(out_->at, "%s calls more than %d computations", Name(out_->opcode), kMaxCalled);
  }

  Status ReadComparisonType() {
    lexer_.SkipBlanks();
    const size_t at = lexer_.position();
    ASSIGN_OR_RETURN(const std::string_view word, lexer_.Word());
    const std::optional<ComparisonType> type = ParseComparisonType(word);
    if (!type) return lexer_.ErrorAt(at, "\"%s\" is none of FLOAT, TOTALORDER, SIGNED, UNSIGNED", word);
    std::get<CompareAttributes>(out_->attributes).type = *type;
    out_->states_comparison_type = true;
    return OkStatus();
  }

  // Converts the fields that were read into the proto to notes, by the codec: modelled fields become members,
  // the others are kept as they are.
  Status FinishNotes() {
    async_thread_ = rest_.async_execution_thread();
    if (rest_.ByteSizeLong() == 0 && !rest_.has_sharding()) return OkStatus();
    Notes& notes = out_->notes;
    rest_.set_name(notes.name);
    ASSIGN_OR_RETURN(Notes read, codec::DecodeNotes(rest_, out_->opcode, {}));
    notes.metadata = std::move(read.metadata);
    notes.sharding = std::move(read.sharding);
    notes.unmodelled = std::move(read.unmodelled);
    return OkStatus();
  }

  Lexer& lexer_;
  const ParseOptions& options_;
  const int depth_;
  Tables& tables_;
  ParsedModule& module_;
  ParsedComputation& computation_;
  ParsedInstruction* out_ = nullptr;
  // The parameters of an instruction that is a whole text.
  struct Parameters {
    absl::flat_hash_set<std::string> names;
    int64_t count = 0;
  };
  Parameters parameters_;
  Parameters* alone_ = nullptr;  // Null unless the instruction is a whole text, or in one.
  std::set<std::string_view> seen_;
  xla::HloInstructionProto rest_;
  std::string async_thread_;
};

}  // namespace

absl::Status ReadBody(Lexer& lexer, const ParseOptions& options, int depth, Tables& tables,
                      ParsedModule& module, ParsedComputation& computation) {
  while (!lexer.Try("}")) {
    ParsedInstruction instruction;
    RETURN_IF_ERROR(InstructionReader(lexer, options, depth, tables, module, computation).Read(instruction));
    computation.instructions.push_back(std::move(instruction));
  }
  if (!computation.instructions.empty()) return absl::OkStatus();
  return lexer.ErrorAt(computation.at, "computation \"%s\" has no instructions", computation.name);
}

absl::Status ReadAlone(Lexer& lexer, const ParseOptions& options, Tables& tables, ParsedModule& module,
                       ParsedComputation& computation) {
  ParsedInstruction instruction;
  RETURN_IF_ERROR(InstructionReader(lexer, options, 0, tables, module, computation).ReadAlone(instruction));
  computation.instructions.push_back(std::move(instruction));
  return absl::OkStatus();
}

}  // namespace hlod::hlo::text
