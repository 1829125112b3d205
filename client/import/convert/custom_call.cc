// Converts custom calls: those that represent an operation become that operation, the others remain.
#include <algorithm>

#include "client/import/convert/conversion.h"
#include "client/import/convert/scope.h"
#include "client/import/program/attribute_text.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// Returns the payload: a dictionary as MLIR prints it, or a string unchanged.
std::string BackendConfig(Conversion& c) {
  if (const AttributeMap* map = MapOf(c.Find("mhlo.backend_config"))) return TextOf(*map);
  if (const AttributeMap* map = MapOf(c.Find("backend_config"))) return TextOf(*map);
  const Attribute* const attribute = c.Find("backend_config");
  const bool is_empty = attribute == nullptr || std::holds_alternative<std::monostate>(attribute->value);
  return is_empty ? "" : PlainText(*attribute);
}

// Returns the computations of the functions that it names, over arguments of the types that they state.
std::vector<ComputationId> CalledComputations(Conversion& c) {
  std::vector<ComputationId> called;
  const Attribute* const attribute = c.Find("called_computations");
  const auto* const names =
      attribute == nullptr ? nullptr : std::get_if<std::vector<Attribute>>(&attribute->value);
  if (names == nullptr) return called;
  for (const Attribute& name : *names) {
    std::vector<Converter::Argument> arguments;
    if (const Function* function = c.scope.converter().FindFunction(PlainText(name))) {
      for (const Type& type : function->type.inputs) arguments.push_back({.shape = type});
    }
    called.push_back(c.Take(c.scope.converter().FunctionOf(PlainText(name), arguments, c.op)));
  }
  return called;
}

// The operands that a target gets, and the types of its results.
struct Sized {
  std::vector<Op> operands;
  std::vector<Type> results;
};

// Returns both, without the operands that state the sizes of results, which are not passed to the target.
// Fails when these sizes are not known.
Sized TakeSizes(Conversion& c) {
  Sized sized{.operands = c.operands, .results = {}};
  for (size_t i = 0; i < c.op.results.size(); ++i) sized.results.push_back(c.stated(i));
  if (!c.Has("indices_of_shape_operands")) return sized;
  const Dims indices = c.Integers("indices_of_shape_operands");
  for (size_t i = 0; i < indices.size() && i < sized.results.size(); ++i) {
    const bool exists = indices[i] >= 0 && indices[i] < static_cast<int64_t>(c.operands.size());
    const Integers* known = exists ? c.scope.Known(c.operand(static_cast<size_t>(indices[i]))) : nullptr;
    if (known == nullptr) {
      c.Fail(Unimplemented(
          "The size of its result %d depends on values that are known only when the program runs.", i));
      return sized;
    }
    sized.results[i].dims.assign(known->begin(), known->end());
    sized.results[i].dynamic.clear();
  }
  sized.operands.clear();
  for (size_t i = 0; i < c.operands.size(); ++i) {
    if (std::ranges::find(indices, static_cast<int64_t>(i)) == indices.end())
      sized.operands.push_back(c.operand(i));
  }
  return sized;
}

constexpr int32_t kTypedFfi = 4;

Values AsItStands(Conversion& c) {
  static constexpr std::string_view kVersions[] = {
      "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
      "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
  hlo::CustomCallAttributes attributes;
  attributes.target = c.Text("call_target_name");
  attributes.backend_config = BackendConfig(c);
  attributes.has_side_effect = c.Bool("has_side_effect");
  attributes.api_version =
      c.Has("api_version") ? static_cast<int32_t>(c.Choice("api_version", kVersions, 0)) : 1;
  if (c.Has("mhlo.backend_config")) attributes.api_version = kTypedFfi;
  const std::vector<ComputationId> called = CalledComputations(c);

  const Sized sized = TakeSizes(c);
  Type stated = c.StatedTogether();
  if (sized.results.size() == 1) {
    stated = sized.results.front();  // May be a tuple itself.
  } else {
    stated.tuple.assign(sized.results.begin(), sized.results.end());
  }
  if (!c.status().ok()) return {};
  return c.Results(c.b.Add(kCustomCall, sized.operands, attributes, called, &stated));
}

// Checks JAX's assertion about sizes while converting. An assertion that holds is removed.
Values ShapeAssertion(Conversion& c) {
  const Integers* const holds = c.operands.empty() ? nullptr : c.scope.Known(c.operand(0));
  if (holds == nullptr || holds->size() != 1) {
    c.Fail(Unimplemented("Its assertion depends on values that are known only when the program runs."));
  } else if (holds->front() == 0) {
    std::string message = c.Text("error_message", /*required=*/false);
    for (size_t i = 1; i < c.operands.size(); ++i) {
      const Integers* const value = c.scope.Known(c.operand(i));
      const std::string hole = "{" + std::to_string(i - 1) + "}";
      const size_t at = message.find(hole);
      if (value != nullptr && value->size() == 1 && at != std::string::npos) {
        message.replace(at, hole.size(), std::to_string(value->front()));
      }
    }
    c.Fail(InvalidArgument("%s", message));
  }
  return {};
}

// Returns k of a top_k, the number that `operand` has; fails when it is not known.
std::optional<int64_t> KnownK(Conversion& c, Op operand) {
  const Integers* const known = c.scope.Known(operand);
  if (known != nullptr && known->size() == 1) return known->front();
  c.Fail(Unimplemented("Its k depends on values that are known only when the program runs."));
  return std::nullopt;
}

// An exact result is a valid approximate one: sorts the operands with the comparator and keeps the first k,
// which is an attribute, or the last operand of stablehlo.dynamic_approx_top_k.
Values ApproxTopK(Conversion& c, bool is_dynamic) {
  Sized sized = TakeSizes(c);
  const AttributeMap* config = MapOf(c.Find("mhlo.backend_config"));
  if (config == nullptr) config = MapOf(c.Find("backend_config"));
  const auto number = [&](std::string_view name) -> std::optional<int64_t> {
    const auto found = config == nullptr ? AttributeMap::const_iterator{} : config->find(name);
    if (config == nullptr || found == config->end()) return std::nullopt;
    const auto* const value = std::get_if<int64_t>(&found->second.value);
    return value == nullptr ? std::nullopt : std::optional(*value);
  };
  const std::optional<int64_t> dimension = number("reduction_dim");
  std::optional<int64_t> k = number("top_k");
  if (is_dynamic && !sized.operands.empty()) {
    k = KnownK(c, sized.operands.back());
    sized.operands.pop_back();
  }
  if (!c.status().ok()) return {};
  const size_t n = c.op.results.size();
  if (!k.has_value() || !dimension.has_value() || n == 0 || sized.operands.size() != 2 * n ||
      *dimension < 0 || *dimension >= c.shape(0).rank()) {
    return AsItStands(c);
  }
  const std::vector<ComputationId> comparator = CalledComputations(c);
  if (comparator.size() != 1) return AsItStands(c);
  // The call returns k elements when it aggregates. Otherwise it returns as many as XLA's partial reduction
  // leaves, of which the first k are the result.
  const auto d = static_cast<size_t>(*dimension);
  const Op sorted = c.b.Add(kSort, c.Slice(0, n), hlo::SortAttributes{*dimension, false}, comparator);
  Values values;
  for (size_t i = 0; i < n; ++i) {
    const Op all = n == 1 ? sorted : c.b.GetTupleElement(sorted, static_cast<int64_t>(i));
    const Dims sizes = c.b.shape(all).dims;
    const Dims& wanted = sized.results[i].dims;
    if (d >= sizes.size() || d >= wanted.size()) return AsItStands(c);
    Dims limit = sizes;
    limit[d] = wanted[d] == hlo::kUnboundedSize ? *k : wanted[d];
    if (limit[d] == sizes[d]) {
      values.push_back(all);
    } else {
      values.push_back(c.b.Slice(all, Dims(sizes.size(), 0), limit));
    }
  }
  return values;
}

// Converts mhlo.topk, mhlo.erf and similar targets, which older writers used for operations without another
// portable form.
Values Mhlo(Conversion& c, const std::string& target) {
  const std::string name = "chlo." + (target == "mhlo.topk" ? "top_k" : target.substr(5));
  const std::optional<Values> values = ConvertAs(c, name, MapOf(c.Find("mhlo.attributes")));
  return values.has_value() ? *values : AsItStands(c);
}

// Converts a reduce_window whose window is in operands: sizes, strides, dilations of the base and of the
// window, padding.
Values DynamicReduceWindow(Conversion& c) {
  constexpr size_t kNumbers = 5;
  const size_t arrays = 2 * c.op.results.size();
  if (c.operands.size() != arrays + kNumbers) {
    c.Fail(InvalidArgument("It has (%d) operands and (%d) results; expected (%d) operands.",
                           c.operands.size(), c.op.results.size(), arrays + kNumbers));
    return {};
  }
  Dims numbers[kNumbers];
  for (size_t i = 0; i < kNumbers; ++i) {
    const Integers* const known = c.scope.Known(c.operand(arrays + i));
    if (known == nullptr) {
      c.Fail(Unimplemented(
          "Operand %d states a window that depends on values that are known only when the program runs.",
          arrays + i));
      return {};
    }
    numbers[i].assign(known->begin(), known->end());
  }
  Pairs padding;
  for (size_t i = 0; i + 1 < numbers[4].size(); i += 2)
    padding.emplace_back(numbers[4][i], numbers[4][i + 1]);
  const hlo::Window window = MakeWindow(c, numbers[0], numbers[1], padding, numbers[2], numbers[3], {});
  const std::vector<ComputationId> reducer = CalledComputations(c);
  return Instruction(c, kReduceWindow, c.Slice(0, arrays), hlo::WindowAttributes{window}, reducer);
}

// Converts a top_k whose k is an operand.
Values DynamicTopK(Conversion& c) {
  if (c.operands.size() != 2 || c.op.results.size() != 2) return AsItStands(c);
  const std::optional<int64_t> k = KnownK(c, c.operand(1));
  return Instruction(c, kTopK, c.Slice(0, 1), hlo::TopKAttributes{k.value_or(0), /*largest=*/true});
}

// Converts a random bit generator that has the sizes of its bits as an operand.
Values DynamicRngBitGenerator(Conversion& c) {
  if (c.operands.size() != 2 || c.op.results.size() != 2) return AsItStands(c);
  const Integers* const known = c.scope.Known(c.operand(1));
  if (known == nullptr) {
    c.Fail(
        Unimplemented("The size of its bits depends on values that are known only when the program runs."));
    return {};
  }
  Type stated = c.StatedTogether();
  stated.tuple[1].dims.assign(known->begin(), known->end());
  stated.tuple[1].dynamic.clear();
  return RandomBits(c, stated);
}

Values CustomCall(Conversion& c) {
  const std::string target = c.Text("call_target_name");
  if (target == "shape_assertion") return ShapeAssertion(c);
  if (target == "ApproxTopK") return ApproxTopK(c, /*is_dynamic=*/false);
  if (target == "stablehlo.dynamic_approx_top_k") return ApproxTopK(c, /*is_dynamic=*/true);
  if (target == "stablehlo.dynamic_top_k") return DynamicTopK(c);
  if (target == "stablehlo.dynamic_rng_bit_generator") return DynamicRngBitGenerator(c);
  if (target == "stablehlo.dynamic_reduce_window") return DynamicReduceWindow(c);
  if (target.starts_with("mhlo.")) return Mhlo(c, target);
  return AsItStands(c);
}

constexpr Rule kCustomCallRules[] = {{"stablehlo.custom_call", CustomCall, -1, -1}};

}  // namespace

absl::Span<const Rule> CustomCallRules() { return kCustomCallRules; }

}  // namespace hlod::stablehlo
