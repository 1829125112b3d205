// Converts functions to computations, callees first. The entry's attributes become the module's.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/import/convert/known_integers.h"
#include "client/import/convert/scope.h"
#include "client/import/import.h"
#include "client/import/program/attribute_text.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"

namespace hlod::stablehlo {
namespace {

// Bounds nested loops, branches and calls. It is the verifier's limit, checked early to bound recursion.
constexpr int kNestingMax = hlo::VerifyOptions{}.call_depth_max;

// Returns an operation that names the function in errors that are not about one of its operations.
Operation FunctionOperation(const Function& function) {
  Operation operation;
  operation.name = absl::StrCat("func.func @", function.name);
  return operation;
}

bool TakesSizes(const Operation& operation) {
  if (operation.name == "stablehlo.rng") return true;
  return std::ranges::any_of(DynamicRules(), [&](const Rule& rule) { return rule.name == operation.name; });
}

// Visits all regions without recursion: finds unknown sizes and how deep regions nest.
struct RegionScan {
  bool has_unknown = false;
  absl::Status status;

  void Count(const Function& function) {
    for (const Type& type : function.type.inputs) has_unknown |= IsUnknown(type);
    std::vector<std::pair<const Region*, int>> waiting = {{&function.body, 1}};
    while (!waiting.empty()) {
      const auto [region, depth] = waiting.back();
      waiting.pop_back();
      for (const Block& block : region->blocks) {
        for (const Operation& operation : block.operations) {
          has_unknown |= TakesSizes(operation);
          for (const Value& result : operation.results) has_unknown |= IsUnknown(result.type);
          for (const Region& inner : operation.regions) waiting.emplace_back(&inner, depth + 1);
          if (depth < kNestingMax || operation.regions.empty()) continue;
          status =
              At(operation, ResourceExhausted("Its regions nest deeper than the limit (%d).", kNestingMax));
          return;
        }
      }
    }
  }
};

// Returns the names of the functions that could be the entry, for an error.
std::string PublicNames(const Program& program) {
  constexpr size_t kNamesMax = 8;
  std::vector<std::string> names;
  for (const Function& function : program.functions) {
    if (function.is_public && function.has_body() && names.size() <= kNamesMax)
      names.push_back(names.size() < kNamesMax ? absl::StrCat("@", function.name) : "...");
  }
  return absl::StrJoin(names, ", ");
}

// Returns the function `name`; when empty, @main, else the only public function.
absl::StatusOr<const Function*> EntryOf(const Program& program, std::string_view name) {
  const Function* entry = nullptr;
  int publics = 0;
  for (const Function& function : program.functions) {
    if (function.name == (name.empty() ? "main" : name)) return &function;
    if (!function.is_public || !function.has_body()) continue;
    ++publics;
    entry = &function;
  }
  if (!name.empty()) {
    return InvalidArgument("The program has no function @%s; its public functions are %s.", name,
                           publics == 0 ? "none" : PublicNames(program));
  }
  if (publics == 1) return entry;
  return InvalidArgument(
      "The program has no function @main, and (%d) public functions, of which one must be the entry%s%s.",
      publics, publics == 0 ? "" : ", to be chosen by its name (--entry): ", PublicNames(program));
}

// Returns true when `options` has numbers for an argument that JAX treats as a constant of all programs: the
// platform's number.
bool GivesConstants(const Function& entry, const ReadOptions& options) {
  for (const auto& [number, values] : options.numbers) {
    if (number < entry.argument_attributes.size() &&
        entry.argument_attributes[number].contains("jax.global_constant"))
      return true;
  }
  return false;
}

// Returns an argument of the entry: unknown sizes come from `options`, as do numbers that sizes may depend
// on.
absl::StatusOr<Converter::Argument> EntryArgument(const Type& type, size_t number, const ReadOptions& options,
                                                  bool has_unknown) {
  Converter::Argument argument{.shape = type};
  if (const auto given = options.sizes.find(number); given != options.sizes.end() && IsUnknown(type)) {
    argument.shape.dims = given->second;
    argument.shape.dynamic.clear();
  }
  if (IsUnknown(argument.shape)) {
    return Unimplemented(
        "Argument %d is %s: its size is not known before the program is given its arguments.", number,
        hlo::ToStringNoLayout(argument.shape));
  }
  const auto numbers = options.numbers.find(number);
  if (numbers == options.numbers.end() || !has_unknown || !hlo::IsInteger(type.type)) return argument;
  const std::optional<int64_t> count = hlo::ElementCount(argument.shape);
  if (!count.has_value() || static_cast<size_t>(*count) != numbers->second.size()) {
    return InvalidArgument("Argument %d is %s, but has (%d) stated numbers.", number,
                           hlo::ToStringNoLayout(argument.shape), numbers->second.size());
  }
  argument.known = LiteralOf(numbers->second, argument.shape);
  return argument;
}

int64_t CountIn(const AttributeMap& attributes, std::string_view name) {
  const Attribute* const attribute = Find(attributes, name);
  const auto* const count = attribute == nullptr ? nullptr : std::get_if<int64_t>(&attribute->value);
  return count == nullptr || *count < 1 ? 1 : *count;
}

// Reads what the entry says of its arguments: their names, aliases, donors, shardings.
absl::Status TakeArguments(const Function& entry, const Meshes& meshes, hlo::Module& module) {
  for (size_t i = 0; entry.has_body() && i < entry.body.blocks[0].argument_names.size(); ++i) {
    const std::string& name = entry.body.blocks[0].argument_names[i];
    if (!name.empty() && i < module.entry().parameters().size())
      module.entry().mutable_notes(module.entry().parameters()[i]).metadata.op_name = name;
  }
  const size_t results = entry.type.results.size();
  for (size_t i = 0; i < entry.argument_attributes.size() && i < entry.type.inputs.size(); ++i) {
    const AttributeMap& attributes = entry.argument_attributes[i];
    const auto number = static_cast<int64_t>(i);
    if (const Attribute* aliased = Find(attributes, "tf.aliasing_output")) {
      const auto* const output = std::get_if<int64_t>(&aliased->value);
      if (output == nullptr || *output < 0 || *output >= static_cast<int64_t>(results)) {
        return InvalidArgument(
            "The tf.aliasing_output of argument %d is %s; expected the number of one of the (%d) results.", i,
            TextOf(*aliased), results);
      }
      module.config.input_output_alias.push_back(
          {.output_index = results == 1 ? Dims{} : Dims{*output}, .parameter_number = number});
    }
    if (const Attribute* donor = Find(attributes, "jax.buffer_donor")) {
      const auto* const says = std::get_if<bool>(&donor->value);
      if (says == nullptr || *says) module.config.buffer_donors.push_back({.parameter_number = number});
    }
    Decoration decoration;
    decoration.Take(attributes, meshes, entry.type.inputs[i]);
    if (decoration.frontend_attributes.empty() && decoration.sharding.empty()) continue;
    hlo::Notes& notes = module.entry().mutable_notes(module.entry().parameters()[i]);
    notes.frontend_attributes = decoration.frontend_attributes;
    notes.sharding = decoration.sharding;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<hlo::Module>> Converted(const Program& program, const ReadOptions& options) {
  auto module = std::make_unique<hlo::Module>(program.name.empty() ? "main" : program.name);
  ASSIGN_OR_RETURN(const Function* const entry, EntryOf(program, options.entry));
  RegionScan scan{.has_unknown = program.branches_are_known};
  for (const Function& function : program.functions) {
    scan.Count(function);
    RETURN_IF_ERROR(scan.status);
  }
  Converter converter(program, *module, scan.has_unknown || GivesConstants(*entry, options),
                      options.with_rules);
  const Operation place = FunctionOperation(*entry);
  std::vector<Converter::Argument> arguments;
  for (const Type& type : entry->type.inputs) {
    absl::StatusOr<Converter::Argument> argument =
        EntryArgument(type, arguments.size(), options, converter.has_unknown());
    if (!argument.ok()) return At(place, argument.status());
    arguments.push_back(*std::move(argument));
  }
  ASSIGN_OR_RETURN(const ComputationId made, converter.FunctionOf(entry->name, arguments, place));
  module->set_entry(made);
  module->config.partition_count = CountIn(program.attributes, "mhlo.num_partitions");
  module->config.replica_count = CountIn(program.attributes, "mhlo.num_replicas");
  if (absl::Status status = TakeArguments(*entry, converter.meshes(), *module); !status.ok())
    return At(place, status);
  module->config.frontend_attributes = ModuleAttributes(program);
  RETURN_IF_ERROR(Verify(*module));
  return module;
}

// Returns an error unless the values that a function returns refine its stated results.
absl::Status CheckResults(const Function& function, Scope& scope, const std::vector<Op>& results) {
  if (results.size() != function.type.results.size()) {
    return InvalidArgument("It returns (%d) values; its type has (%d).", results.size(),
                           function.type.results.size());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = scope.builder().shape(results[i]);
    if (Refines(shape, function.type.results[i])) continue;
    return InvalidArgument("Its result %d is stated to be %s; it returns %s.", i,
                           hlo::ToStringNoLayout(function.type.results[i]), hlo::ToStringNoLayout(shape));
  }
  return absl::OkStatus();
}

}  // namespace

Converter::Converter(const Program& program, hlo::Module& module, bool has_unknown, bool with_rules)
    : program_(program),
      module_(module),
      has_unknown_(has_unknown),
      with_rules_(with_rules),
      meshes_(MeshesOf(program)) {
  for (const Function& function : program.functions) functions_.emplace(function.name, &function);
}

const Function* Converter::FindFunction(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

absl::Status Converter::CheckDepth() const {
  if (depth_ < kNestingMax) return absl::OkStatus();
  return ResourceExhausted("Regions and calls nest deeper than the limit (%d).", kNestingMax);
}

absl::StatusOr<ComputationId> Converter::FunctionOf(std::string_view name,
                                                    const std::vector<Argument>& arguments,
                                                    const Operation& caller) {
  const Function* const function = FindFunction(name);
  if (function == nullptr) {
    return At(caller, InvalidArgument("It names the function @%s, which the program does not have.", name));
  }
  if (!function->has_body()) {
    return At(caller, Unimplemented("It names the function @%s, which has no body.", name));
  }
  const std::string key = VersionKey(name, arguments);
  const auto [found, added] = made_.try_emplace(key);
  if (!added && !found->second.has_value()) {
    return At(caller, Unimplemented("The function @%s calls itself; HLO has no recursion.", name));
  }
  if (absl::Status status = CheckCall(*function, arguments); !status.ok()) return At(caller, status);
  if (!added) return *found->second;
  ASSIGN_OR_RETURN(const ComputationId made, ConvertFunction(*function, arguments));
  made_[key] = made;
  return made;
}

std::string Converter::VersionKey(std::string_view name, const std::vector<Argument>& arguments) const {
  std::string key(name);
  for (const Argument& argument : arguments) {
    if (!has_unknown_) break;
    absl::StrAppend(&key, " ", hlo::ToStringNoLayout(argument.shape));
    if (argument.known.has_value()) absl::StrAppend(&key, "=", hlo::ToText(*argument.known));
  }
  return key;
}

absl::Status Converter::CheckCall(const Function& function, const std::vector<Argument>& arguments) const {
  if (arguments.size() != function.type.inputs.size()) {
    return InvalidArgument("The function @%s takes (%d) arguments; the call has (%d).", function.name,
                           function.type.inputs.size(), arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (Refines(arguments[i].shape, function.type.inputs[i])) continue;
    return InvalidArgument("Argument %d of the function @%s is %s; the call has %s.", i, function.name,
                           hlo::ToStringNoLayout(function.type.inputs[i]),
                           hlo::ToStringNoLayout(arguments[i].shape));
  }
  // A function with unknown sizes becomes one computation per list of sizes, and the number of versions may
  // double with every level of calls.
  constexpr size_t kVersionsMax = 10'000;
  if (made_.size() > kVersionsMax) {
    return ResourceExhausted("The functions of the program have more versions than the limit (%d).",
                             kVersionsMax);
  }
  return CheckDepth();
}

absl::StatusOr<ComputationId> Converter::ConvertFunction(const Function& function,
                                                         const std::vector<Argument>& arguments) {
  const Operation place = FunctionOperation(function);
  absl::StatusOr<const Block*> block = Scope::OnlyBlock(function.body);
  if (!block.ok()) return At(place, block.status());
  if ((*block)->arguments.size() != arguments.size()) {
    return At(place, InvalidArgument("Its body takes (%d) arguments; its type has (%d).",
                                     (*block)->arguments.size(), arguments.size()));
  }
  Scope scope(*this, function.name);
  std::vector<ValueId> ids;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    ids.push_back((*block)->arguments[i].id);
    shapes.push_back(arguments[i].shape);
  }
  scope.AddParameters(ids, shapes, Packing::kParameters);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].known.has_value()) scope.DefineKnown(ids[i], *arguments[i].known);
  }
  if (!scope.builder().status().ok()) return At(place, scope.builder().status());
  ASSIGN_OR_RETURN(const std::vector<Op> results, scope.ConvertBlock(**block));
  if (absl::Status status = CheckResults(function, scope, results); !status.ok()) return At(place, status);
  KnownValues known;
  for (const Op result : results) {
    const Integers* const numbers = scope.Known(result);
    known.push_back(numbers == nullptr ? std::nullopt : std::optional(*numbers));
  }
  absl::StatusOr<ComputationId> made = scope.Finish(results);
  if (!made.ok()) return At(place, made.status());
  if (std::ranges::any_of(known, [](const auto& numbers) { return numbers.has_value(); }))
    known_results_[*made] = std::move(known);
  return made;
}

absl::StatusOr<ComputationId> Converter::Add(hlo::Computation computation) {
  constexpr int64_t kInstructionsMax = hlo::VerifyOptions{}.instructions_max;
  instructions_ += computation.size();
  if (instructions_ > kInstructionsMax) {
    return ResourceExhausted("The program has more instructions than the limit (%d).", kInstructionsMax);
  }
  module_.AddComputation(computation.name()) = std::move(computation);
  return module_.computation_count() - 1;
}

std::string Converter::RegionName() { return absl::StrCat("region_", regions_++); }

absl::StatusOr<std::unique_ptr<hlo::Module>> ToHlo(const Program& program, const ReadOptions& options) {
  absl::StatusOr<std::unique_ptr<hlo::Module>> module = Converted(program, options);
  return module.ok() ? std::move(module) : AsProgramError(module.status());
}

}  // namespace hlod::stablehlo
