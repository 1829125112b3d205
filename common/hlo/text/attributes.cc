// The table of the attributes that the IR models: their names, order and spelling in HLO text, used by both
// parser and printer.
#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "common/base/text/strings.h"
#include "common/hlo/proto/residue.h"
#include "common/hlo/text/forms.h"

namespace hlod::hlo::text {
namespace {

using absl::OkStatus;
using absl::Status;
using absl::StrAppend;

constexpr std::array<std::string_view, 4> kTransposeWords = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                                             "ADJOINT"};

// Returns the PrecisionConfig of an alternative. It is printed as two attributes.
template <typename T>
Precision& PrecisionOf(T& attributes) {
  if constexpr (requires { attributes.dot; }) return attributes.dot.precision;
  else return attributes.precision;
}
template <typename T>
const Precision& PrecisionOf(const T& attributes) {
  return PrecisionOf(const_cast<T&>(attributes));
}
template <typename T>
Status ReadPrecision(Lexer& lexer, Attributes& attributes) {
  auto& operand = PrecisionOf(std::get<T>(attributes)).operand;
  bool all_default = true;
  RETURN_IF_ERROR(ReadList(lexer, "{", "}", [&]() -> Status {
    ASSIGN_OR_RETURN(const size_t value, ReadOneOf(lexer, kPrecisionWords));
    operand.push_back(static_cast<uint8_t>(value));
    all_default &= value == 0;
    return OkStatus();
  }));
  if (all_default) operand.clear();  // The IR has only this form of all-default precision.
  return OkStatus();
}
template <typename T>
void PrintPrecision(const Attributes& attributes, std::string& out) {
  const auto& operand = PrecisionOf(std::get<T>(attributes)).operand;
  if (operand.empty()) return;
  for (size_t i = 0; i < operand.size(); ++i) {
    StrAppend(&out, i == 0 ? "{" : ",", ToAbsl(kPrecisionWords[std::min<size_t>(operand[i], 2)]));
  }
  out += '}';
}
// dot_bf16_bf16_f32_x3 is ALG_DOT_BF16_BF16_F32_X3 on the wire.
template <typename T>
Status ReadAlgorithm(Lexer& lexer, Attributes& attributes) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  xla::PrecisionConfig::Algorithm algorithm;
  if (!xla::PrecisionConfig::Algorithm_Parse(absl::StrCat("ALG_", absl::AsciiStrToUpper(ToAbsl(word))),
                                             &algorithm)) {
    return lexer.At(at, Unimplemented("algorithm \"%s\" is not known to this build", word));
  }
  PrecisionOf(std::get<T>(attributes)).algorithm = static_cast<uint8_t>(algorithm);
  return OkStatus();
}
template <typename T>
void PrintAlgorithm(const Attributes& attributes, std::string& out) {
  const int number = PrecisionOf(std::get<T>(attributes)).algorithm;
  if (number == 0 || !xla::PrecisionConfig::Algorithm_IsValid(number)) return;
  out += absl::AsciiStrToLower(
      xla::PrecisionConfig::Algorithm_Name(static_cast<xla::PrecisionConfig::Algorithm>(number)).substr(4));
}

// A row for the member M of T. `kOptional` members are left out of the text when they have their default
// values.
enum Presence { kRequired, kAlways, kOptional };

template <typename T, typename Member>
T OwnerOf(Member T::*);

template <auto M>
constexpr Field Row(std::string_view name, Presence presence) {
  using T = decltype(OwnerOf(M));
  constexpr auto parse = [](Lexer& lexer, Attributes& attributes) {
    return Read(lexer, std::get<T>(attributes).*M);
  };
  if (presence == kOptional) {
    return {name, parse, [](const Attributes& attributes, std::string& out) {
              if (std::get<T>(attributes).*M != T().*M) Print(std::get<T>(attributes).*M, out);
            }};
  }
  return {name, parse,
          [](const Attributes& attributes, std::string& out) { Print(std::get<T>(attributes).*M, out); },
          presence == kRequired};
}

// Returns the same row, printed after the called computations.
constexpr Field Late(Field field) {
  field.late = true;
  return field;
}

// Returns a row for all of T.
template <typename T>
constexpr Field WholeRow(std::string_view name, Presence presence) {
  return {name, [](Lexer& lexer, Attributes& attributes) { return Read(lexer, std::get<T>(attributes)); },
          [](const Attributes& attributes, std::string& out) {
            if (!(std::get<T>(attributes) == T())) Print(std::get<T>(attributes), out);
          },
          presence == kRequired};
}

// Reads quoted strings and bare words.
template <auto M>
Status ReadQuoted(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(std::get<decltype(OwnerOf(M))>(attributes).*M, lexer.Quoted());
  return OkStatus();
}
template <auto M>
void PrintQuoted(const Attributes& attributes, std::string& out) {
  out += QuotedText(std::get<decltype(OwnerOf(M))>(attributes).*M);
}

// Returns a row for the dot inside a ragged dot.
template <auto M>
constexpr Field DotRow(std::string_view name, Presence presence) {
  return {name,
          [](Lexer& lexer, Attributes& attributes) {
            return Read(lexer, std::get<RaggedDotAttributes>(attributes).dot.*M);
          },
          presence == kAlways ? +[](const Attributes& attributes, std::string& out) {
            Print(std::get<RaggedDotAttributes>(attributes).dot.*M, out);
          } : +[](const Attributes& attributes, std::string& out) {
            const Dims& dims = std::get<RaggedDotAttributes>(attributes).dot.*M;
            if (!dims.empty()) Print(dims, out);
          }};
}

// Prints the configurations of infeed and outfeed, which are bytes. Empty ones are left out.
template <auto M>
void PrintQuotedUnlessEmpty(const Attributes& attributes, std::string& out) {
  const std::string& value = std::get<decltype(OwnerOf(M))>(attributes).*M;
  if (!value.empty()) out += QuotedText(value);
}

// Reads domain={kind="sharding", entry={replicated}, exit={maximal device=0}}. The text's entry is the
// sharding that users see, and is called exit in the proto.
Status ReadDomain(Lexer& lexer, Attributes& attributes) {
  auto& domain = std::get<DomainAttributes>(attributes);
  RETURN_IF_ERROR(lexer.Expect("{"));
  RETURN_IF_ERROR(lexer.Expect("kind"));
  RETURN_IF_ERROR(lexer.Expect("="));
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string kind, lexer.Quoted());
  if (kind != "sharding")
    return lexer.At(at, Unimplemented("domain kind \"%s\" is not known to this build", kind));
  for (const auto& [word, bytes] :
       {std::pair("entry", &domain.exit_sharding), std::pair("exit", &domain.entry_sharding)}) {
    RETURN_IF_ERROR(lexer.Expect(","));
    RETURN_IF_ERROR(lexer.Expect(word));
    RETURN_IF_ERROR(lexer.Expect("="));
    xla::OpSharding sharding;
    RETURN_IF_ERROR(ReadSharding(lexer, kMaxTupleDepth, sharding));
    *bytes = codec::SerializeDeterministic(sharding);
  }
  return lexer.Expect("}");
}
void PrintDomain(const Attributes& attributes, std::string& out) {
  const auto& domain = std::get<DomainAttributes>(attributes);
  const auto text = [](const std::string& bytes) {
    xla::OpSharding sharding;
    return sharding.ParseFromString(bytes) ? ShardingText(sharding) : "";
  };
  StrAppend(&out, "{kind=\"sharding\", entry=", text(domain.exit_sharding),
            ", exit=", text(domain.entry_sharding), "}");
}

Status ReadOutfeedShape(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(std::get<OutfeedAttributes>(attributes).shape, ReadShape(lexer, kMaxTupleDepth));
  return OkStatus();
}
void PrintOutfeedShape(const Attributes& attributes, std::string& out) {
  out += ToString(std::get<OutfeedAttributes>(attributes).shape);
}

// Reads dimensions={0} of the opcodes that have one dimension, and iota_dimension=0.
Status ReadOneDimension(Lexer& lexer, Attributes& attributes) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const Dims dims, ReadDims(lexer));
  if (dims.size() != 1) return lexer.ErrorAt(at, "expected one dimension, found %d", dims.size());
  if (auto* sort = std::get_if<SortAttributes>(&attributes)) {
    sort->dimension = dims[0];
  } else if (auto* scan = std::get_if<ScanAttributes>(&attributes)) {
    scan->dimension = dims[0];
  } else {
    std::get<DimensionsAttributes>(attributes).dimensions = dims;
  }
  return OkStatus();
}
Status ReadBareDimension(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(const int64_t dimension, lexer.Integer());
  std::get<DimensionsAttributes>(attributes).dimensions = {dimension};
  return OkStatus();
}
void PrintBareDimension(const Attributes& attributes, std::string& out) {
  for (int64_t dimension : std::get<DimensionsAttributes>(attributes).dimensions) StrAppend(&out, dimension);
}
template <typename T>
void PrintOneDimension(const Attributes& attributes, std::string& out) {
  StrAppend(&out, "{", std::get<T>(attributes).dimension, "}");
}

Status ReadAssociative(Lexer& lexer, Attributes& attributes) {
  bool value = false;
  RETURN_IF_ERROR(Read(lexer, value));
  std::get<ScanAttributes>(attributes).is_associative = value ? xla::TRI_STATE_TRUE : xla::TRI_STATE_FALSE;
  return OkStatus();
}
void PrintAssociative(const Attributes& attributes, std::string& out) {
  const int value = std::get<ScanAttributes>(attributes).is_associative;
  if (value == xla::TRI_STATE_TRUE) out += "true";
  if (value == xla::TRI_STATE_FALSE) out += "false";
}

// The version of a custom-call whose text does not state one: XLA omits this one.
constexpr int32_t kAssumedApiVersion = xla::API_VERSION_ORIGINAL;

Status ReadApiVersion(Lexer& lexer, Attributes& attributes) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  xla::CustomCallApiVersion version;
  if (!xla::CustomCallApiVersion_Parse(std::string(word), &version)) {
    return lexer.At(at, Unimplemented("api_version \"%s\" is not known to this build", word));
  }
  std::get<CustomCallAttributes>(attributes).api_version = version;
  return OkStatus();
}
void PrintApiVersion(const Attributes& attributes, std::string& out) {
  const int version = std::get<CustomCallAttributes>(attributes).api_version;
  if (version == kAssumedApiVersion || !xla::CustomCallApiVersion_IsValid(version)) return;
  out += xla::CustomCallApiVersion_Name(static_cast<xla::CustomCallApiVersion>(version));
}

Status ReadFusionKind(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  std::get<FusionAttributes>(attributes).kind = std::string(word);
  return OkStatus();
}
void PrintFusionKind(const Attributes& attributes, std::string& out) {
  out += std::get<FusionAttributes>(attributes).kind;
}

Status ReadTranspose(Lexer& lexer, Attributes& attributes) {
  ASSIGN_OR_RETURN(const size_t value, ReadOneOf(lexer, kTransposeWords));
  std::get<TriangularSolveAttributes>(attributes).transpose_a = static_cast<uint8_t>(value);
  return OkStatus();
}
void PrintTranspose(const Attributes& attributes, std::string& out) {
  out += kTransposeWords[std::min<size_t>(std::get<TriangularSolveAttributes>(attributes).transpose_a, 3)];
}

// The rows of each alternative of Attributes; empty for alternatives without attributes in the text.
template <typename T>
constexpr std::array<Field, 0> kRows{};
template <>
constexpr std::array kRows<DimensionsAttributes> = {
    Row<&DimensionsAttributes::dimensions>("dimensions", kRequired)};
template <>
constexpr std::array kRows<SortAttributes> = {
    Field{"dimensions", ReadOneDimension, PrintOneDimension<SortAttributes>, true},
    Row<&SortAttributes::is_stable>("is_stable", kOptional)};
template <>
constexpr std::array kRows<ScanAttributes> = {
    Field{"dimensions", ReadOneDimension, PrintOneDimension<ScanAttributes>, true},
    Row<&ScanAttributes::is_reverse>("is_reverse", kOptional),
    Row<&ScanAttributes::num_carries>("num_carries", kRequired),
    Field{"is_associative", ReadAssociative, PrintAssociative}};
template <>
constexpr std::array kRows<SliceAttributes> = {
    Field{"slice", [](Lexer& lexer, Attributes& a) { return Read(lexer, std::get<SliceAttributes>(a)); },
          [](const Attributes& a, std::string& out) { Print(std::get<SliceAttributes>(a), out); }, true}};
template <>
constexpr std::array kRows<DynamicSliceAttributes> = {
    Row<&DynamicSliceAttributes::sizes>("dynamic_slice_sizes", kRequired)};
template <>
constexpr std::array kRows<PadAttributes> = {WholeRow<PadAttributes>("padding", kAlways)};
template <>
constexpr std::array kRows<GatherAttributes> = {
    Row<&GatherAttributes::offset_dims>("offset_dims", kRequired),
    Row<&GatherAttributes::collapsed_slice_dims>("collapsed_slice_dims", kRequired),
    Row<&GatherAttributes::start_index_map>("start_index_map", kRequired),
    Row<&GatherAttributes::operand_batching_dims>("operand_batching_dims", kOptional),
    Row<&GatherAttributes::start_indices_batching_dims>("start_indices_batching_dims", kOptional),
    Row<&GatherAttributes::index_vector_dim>("index_vector_dim", kRequired),
    Row<&GatherAttributes::slice_sizes>("slice_sizes", kRequired),
    Row<&GatherAttributes::indices_are_sorted>("indices_are_sorted", kOptional)};
template <>
constexpr std::array kRows<ScatterAttributes> = {
    Row<&ScatterAttributes::update_window_dims>("update_window_dims", kRequired),
    Row<&ScatterAttributes::inserted_window_dims>("inserted_window_dims", kRequired),
    Row<&ScatterAttributes::scatter_dims_to_operand_dims>("scatter_dims_to_operand_dims", kRequired),
    Row<&ScatterAttributes::input_batching_dims>("input_batching_dims", kOptional),
    Row<&ScatterAttributes::scatter_indices_batching_dims>("scatter_indices_batching_dims", kOptional),
    Row<&ScatterAttributes::index_vector_dim>("index_vector_dim", kRequired),
    Row<&ScatterAttributes::indices_are_sorted>("indices_are_sorted", kOptional),
    Row<&ScatterAttributes::unique_indices>("unique_indices", kOptional)};
template <>
constexpr std::array kRows<DotAttributes> = {
    Row<&DotAttributes::lhs_batch>("lhs_batch_dims", kOptional),
    Row<&DotAttributes::lhs_contracting>("lhs_contracting_dims", kAlways),
    Row<&DotAttributes::rhs_batch>("rhs_batch_dims", kOptional),
    Row<&DotAttributes::rhs_contracting>("rhs_contracting_dims", kAlways),
    Field{"algorithm", ReadAlgorithm<DotAttributes>, PrintAlgorithm<DotAttributes>},
    Field{"operand_precision", ReadPrecision<DotAttributes>, PrintPrecision<DotAttributes>}};
template <>
constexpr std::array kRows<RaggedDotAttributes> = {
    DotRow<&DotAttributes::lhs_batch>("lhs_batch_dims", kOptional),
    DotRow<&DotAttributes::lhs_contracting>("lhs_contracting_dims", kAlways),
    DotRow<&DotAttributes::rhs_batch>("rhs_batch_dims", kOptional),
    DotRow<&DotAttributes::rhs_contracting>("rhs_contracting_dims", kAlways),
    Row<&RaggedDotAttributes::lhs_ragged>("lhs_ragged_dims", kRequired),
    Row<&RaggedDotAttributes::rhs_group>("rhs_group_dims", kOptional),
    Field{"algorithm", ReadAlgorithm<RaggedDotAttributes>, PrintAlgorithm<RaggedDotAttributes>},
    Field{"operand_precision", ReadPrecision<RaggedDotAttributes>, PrintPrecision<RaggedDotAttributes>}};
template <>
constexpr std::array kRows<WindowAttributes> = {Row<&WindowAttributes::window>("window", kOptional)};
template <>
constexpr std::array kRows<ConvolutionAttributes> = {
    Row<&ConvolutionAttributes::window>("window", kOptional),
    Field{"dim_labels", ReadDimLabels, PrintDimLabels, true},
    Row<&ConvolutionAttributes::feature_group_count>("feature_group_count", kOptional),
    Row<&ConvolutionAttributes::batch_group_count>("batch_group_count", kOptional),
    Field{"algorithm", ReadAlgorithm<ConvolutionAttributes>, PrintAlgorithm<ConvolutionAttributes>},
    Field{"operand_precision", ReadPrecision<ConvolutionAttributes>, PrintPrecision<ConvolutionAttributes>}};
template <>
constexpr std::array kRows<CompareAttributes> = {Row<&CompareAttributes::direction>("direction", kRequired)};
template <>
constexpr std::array kRows<TupleIndexAttributes> = {Row<&TupleIndexAttributes::index>("index", kRequired)};
template <>
constexpr std::array kRows<ReducePrecisionAttributes> = {
    Row<&ReducePrecisionAttributes::exponent_bits>("exponent_bits", kRequired),
    Row<&ReducePrecisionAttributes::mantissa_bits>("mantissa_bits", kRequired)};
template <>
constexpr std::array kRows<TopKAttributes> = {Row<&TopKAttributes::k>("k", kRequired),
                                              Row<&TopKAttributes::largest>("largest", kAlways)};
template <>
constexpr std::array kRows<RngBitGeneratorAttributes> = {
    Row<&RngBitGeneratorAttributes::algorithm>("algorithm", kRequired)};
template <>
constexpr std::array kRows<RngAttributes> = {Row<&RngAttributes::distribution>("distribution", kRequired)};
template <>
constexpr std::array kRows<RngStateAttributes> = {Row<&RngStateAttributes::delta>("delta", kRequired)};
template <>
constexpr std::array kRows<CollectiveAttributes> = {
    Row<&CollectiveAttributes::channel_id>("channel_id", kOptional),
    Row<&CollectiveAttributes::groups>("replica_groups", kAlways),
    Row<&CollectiveAttributes::constrain_layout>("constrain_layout", kOptional),
    Row<&CollectiveAttributes::dimensions>("dimensions", kOptional),
    Row<&CollectiveAttributes::use_global_device_ids>("use_global_device_ids", kOptional)};
template <>
constexpr std::array kRows<PermuteAttributes> = {
    Row<&PermuteAttributes::channel_id>("channel_id", kOptional),
    Row<&PermuteAttributes::pairs>("source_target_pairs", kRequired)};
template <>
constexpr std::array kRows<DomainAttributes> = {Field{"domain", ReadDomain, PrintDomain, true}};
template <>
constexpr std::array kRows<ChannelAttributes> = {
    Row<&ChannelAttributes::channel_id>("channel_id", kOptional),
    Row<&ChannelAttributes::is_host_transfer>("is_host_transfer", kOptional)};
template <>
constexpr std::array kRows<InfeedAttributes> = {Field{"infeed_config", ReadQuoted<&InfeedAttributes::config>,
                                                      PrintQuotedUnlessEmpty<&InfeedAttributes::config>}};
template <>
constexpr std::array kRows<OutfeedAttributes> = {
    Field{"outfeed_shape", ReadOutfeedShape, PrintOutfeedShape, true},
    Field{"outfeed_config", ReadQuoted<&OutfeedAttributes::config>,
          PrintQuotedUnlessEmpty<&OutfeedAttributes::config>}};
template <>
constexpr std::array kRows<AccuracyAttributes> = {WholeRow<AccuracyAttributes>("result_accuracy", kOptional)};
template <>
constexpr std::array kRows<CallAttributes> = {
    Late(Row<&CallAttributes::is_composite>("is_composite", kOptional))};
template <>
constexpr std::array kRows<FusionAttributes> = {Field{"kind", ReadFusionKind, PrintFusionKind, true}};
template <>
constexpr std::array kRows<CustomCallAttributes> = {
    Field{"custom_call_target", ReadQuoted<&CustomCallAttributes::target>,
          PrintQuoted<&CustomCallAttributes::target>, true},
    Row<&CustomCallAttributes::has_side_effect>("custom_call_has_side_effect", kOptional),
    Field{"api_version", ReadApiVersion, PrintApiVersion, false, true}};
template <>
constexpr std::array kRows<BatchNormAttributes> = {
    Row<&BatchNormAttributes::epsilon>("epsilon", kRequired),
    Row<&BatchNormAttributes::feature_index>("feature_index", kRequired)};
template <>
constexpr std::array kRows<FftAttributes> = {Row<&FftAttributes::type>("fft_type", kRequired),
                                             Row<&FftAttributes::length>("fft_length", kRequired)};
template <>
constexpr std::array kRows<CholeskyAttributes> = {Row<&CholeskyAttributes::lower>("lower", kOptional)};
template <>
constexpr std::array kRows<TriangularSolveAttributes> = {
    Row<&TriangularSolveAttributes::left_side>("left_side", kOptional),
    Row<&TriangularSolveAttributes::lower>("lower", kOptional),
    Row<&TriangularSolveAttributes::unit_diagonal>("unit_diagonal", kOptional),
    Field{"transpose_a", ReadTranspose, PrintTranspose}};

constexpr Field kIotaRows[] = {{"iota_dimension", ReadBareDimension, PrintBareDimension, true}};
constexpr Field kReshapeRows[] = {{"inferred_dimension", ReadBareDimension, PrintBareDimension}};
constexpr Field kOneDimensionRows[] = {
    {"dimensions", ReadOneDimension,
     [](const Attributes& a, std::string& out) { Print(std::get<DimensionsAttributes>(a).dimensions, out); },
     true}};

template <size_t... I>
auto MakeTable(std::index_sequence<I...>) {
  return std::array<absl::Span<const Field>, sizeof...(I)>{
      absl::Span<const Field>(kRows<std::variant_alternative_t<I, Attributes>>)...};
}

template <size_t... I>
auto MakeDefaults(std::index_sequence<I...>) {
  return std::array<Attributes, sizeof...(I)>{Attributes(std::variant_alternative_t<I, Attributes>())...};
}

}  // namespace

absl::Span<const Field> FieldsOf(Opcode opcode) {
  static const auto table = MakeTable(std::make_index_sequence<std::variant_size_v<Attributes>>());
  switch (opcode) {
    case kIota: return kIotaRows;
    case kReshape: return kReshapeRows;
    case kConcatenate:
    case kGetDimensionSize:
    case kSetDimensionSize: return kOneDimensionRows;
    default: return table[Info(opcode).attributes];
  }
}

absl::Span<const CalleeField> CalleesOf(Opcode opcode, bool pred_selector) {
  static constexpr CalleeField kToApply[] = {{"to_apply", 0}, {"calls", 0}};
  static constexpr CalleeField kCalls[] = {{"calls", 0}, {"to_apply", 0}};
  // The condition is printed first, though the body is the first called computation.
  static constexpr CalleeField kLoop[] = {{"condition", 1}, {"body", 0}};
  static constexpr CalleeField kSelectScatter[] = {{"select", 0}, {"scatter", 1}};
  static constexpr CalleeField kBranches[] = {
      {"branch_computations", -1}, {"true_computation", 0}, {"false_computation", 1}};
  static constexpr CalleeField kTwoBranches[] = {
      {"true_computation", 0}, {"false_computation", 1}, {"branch_computations", -1}};
  static constexpr CalleeField kCustom[] = {{"called_computations", -1}, {"to_apply", 0}, {"calls", 0}};
  switch (opcode) {
    case kWhile: return kLoop;
    case kSelectAndScatter: return kSelectScatter;
    case kConditional: return pred_selector ? absl::Span<const CalleeField>(kTwoBranches) : kBranches;
    case kCustomCall: return kCustom;
    case kFusion:
    case kAsyncStart: return kCalls;
    default: return Info(opcode).called == 0 ? absl::Span<const CalleeField>() : kToApply;
  }
}

Attributes DefaultAttributes(Opcode opcode) {
  static const auto defaults = MakeDefaults(std::make_index_sequence<std::variant_size_v<Attributes>>());
  Attributes attributes = defaults[Info(opcode).attributes];
  if (auto* call = std::get_if<CustomCallAttributes>(&attributes)) call->api_version = kAssumedApiVersion;
  return attributes;
}

absl::StatusOr<Dims> ReadDims(Lexer& lexer) {
  Dims dims;
  RETURN_IF_ERROR(ReadList(lexer, "{", "}", [&]() -> Status {
    ASSIGN_OR_RETURN(const int64_t value, lexer.Integer());
    dims.push_back(value);
    return OkStatus();
  }));
  return dims;
}

std::string DimsText(absl::Span<const int64_t> dims) {
  std::string out = "{";
  for (size_t i = 0; i < dims.size(); ++i) StrAppend(&out, i == 0 ? "" : ",", dims[i]);
  return out + "}";
}

}  // namespace hlod::hlo::text
