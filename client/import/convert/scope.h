// A computation that is being built from the operations of a function or a region.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "client/import/convert/conversion.h"
#include "client/import/convert/decoration.h"
#include "client/import/program/operation.h"
#include "common/hlo/builder.h"

namespace hlod::stablehlo {

// The form in which values enter a computation: one parameter per value, or one parameter that is the tuple
// of all, unless there is exactly one value (loops and branches, as in XLA).
enum class Packing { kParameters, kTuple };

class Converter {
 public:
  // Both must outlive the converter. `has_unknown` is true when a type of the program has an unknown
  // dimension: then a function becomes one computation per list of argument shapes and known numbers.
  Converter(const Program& program, hlo::Module& module, bool has_unknown, bool with_rules);

  hlo::Module& module() const { return module_; }
  const Program& program() const { return program_; }
  bool has_unknown() const { return has_unknown_; }
  // Returns true when special functions get rules of differentiation.
  bool with_rules() const { return with_rules_; }
  const Meshes& meshes() const { return meshes_; }

  const Function* FindFunction(std::string_view name) const;
  // Returns the function as a computation of these arguments, and builds it at the first call. Errors that
  // are not about an operation inside it name `caller`.
  struct Argument {
    Shape shape;
    std::optional<hlo::Literal> known;  // The constant that takes the argument's place in the body.
  };
  absl::StatusOr<ComputationId> FunctionOf(std::string_view name, const std::vector<Argument>& arguments,
                                           const Operation& caller);

  // The known numbers of a function's results; nullopt for a result that is not known.
  using KnownValues = std::vector<std::optional<Integers>>;
  // Returns null when no result is known.
  const KnownValues* KnownResults(ComputationId function) const {
    const auto found = known_results_.find(function);
    return found == known_results_.end() ? nullptr : &found->second;
  }

  // Appends a finished computation to the module.
  absl::StatusOr<ComputationId> Add(hlo::Computation computation);
  std::string RegionName();
  // Returns an error when one more nested computation would be too deep.
  absl::Status CheckDepth() const;

 private:
  // Returns the name under which a version of a function is kept: its name and, if sizes may be unknown, the
  // shapes and constants of its arguments.
  std::string VersionKey(std::string_view name, const std::vector<Argument>& arguments) const;
  // Returns an error unless the function takes these arguments, within the limits.
  absl::Status CheckCall(const Function& function, const std::vector<Argument>& arguments) const;
  absl::StatusOr<ComputationId> ConvertFunction(const Function& function,
                                                const std::vector<Argument>& arguments);

  friend class Scope;
  const Program& program_;
  hlo::Module& module_;
  const bool has_unknown_, with_rules_;
  const Meshes meshes_;
  std::map<std::string, const Function*, std::less<>> functions_;
  // The computations by their key; nullopt while being built.
  absl::flat_hash_map<std::string, std::optional<ComputationId>> made_;
  absl::flat_hash_map<ComputationId, KnownValues> known_results_;
  int regions_ = 0, depth_ = 0;
  int64_t instructions_ = 0;
};

class Scope {
 public:
  // `outer`, if not null, is the scope of the operation that the region belongs to: constants are cloned from
  // it.
  Scope(Converter& converter, std::string name, const Scope* outer = nullptr);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

  Converter& converter() const { return converter_; }
  Builder& builder() { return builder_; }

  // Adds parameters of `shapes` and defines `values` as them.
  void AddParameters(absl::Span<const ValueId> values, absl::Span<const Shape> shapes, Packing packing);
  void Define(ValueId id, Op value) { values_[id] = value; }
  // Returns the values of `ids`. Constants of outer scopes are cloned. An error names the first value that is
  // not defined, or that belongs to an outer scope and cannot be cloned.
  absl::StatusOr<std::vector<Op>> FindAll(absl::Span<const ValueId> ids);

  // Converts the operations of a block whose arguments are defined, and returns its terminator's operands.
  absl::StatusOr<std::vector<Op>> ConvertBlock(const Block& block);
  // Returns the block of a region; an error when it does not have exactly one.
  static absl::StatusOr<const Block*> OnlyBlock(const Region& region);

  // Ends the computation with `results`, as a tuple unless there is only one. REQUIRES: the scope is not used
  // afterwards.
  absl::StatusOr<ComputationId> Finish(const std::vector<Op>& results);

  // Builds `region` of `operation` as a computation inside this scope. Its arguments have `shapes`. After
  // them it takes the `captured` values of this scope, and after its results it returns those of `returned`.
  // Errors name the operation.
  struct RegionForm {
    std::vector<Shape> shapes;
    std::vector<ValueId> captured;
    bool return_captured = false;
    Packing packing = Packing::kParameters;
  };
  absl::StatusOr<ComputationId> AddRegion(const Operation& operation, const Region& region,
                                          const RegionForm& form);

  // Returns the values of this scope that operations in `regions` use and that cannot be cloned into them, in
  // the order of their first use.
  std::vector<ValueId> Captured(absl::Span<const Region> regions) const;

  // Returns the instruction that computes a value of this scope.
  hlo::Instruction instruction(Op value) const { return computation_[value.id]; }
  // Return the number or the small array of integers that a value is known to be; null or nullopt when it is
  // not known.
  const Integers* Known(Op value) const;
  std::optional<hlo::Literal> KnownLiteral(Op value) const;
  // Defines `id` as a value that is known.
  void DefineKnown(ValueId id, const hlo::Literal& value);

  // The annotations of the operation that is being converted. Its conversion may add to them.
  Decoration decoration;

 private:
  absl::Status Convert(const Operation& operation);
  void Decorate(hlo::NodeId first, const Operation& operation);
  void LearnKnown(hlo::NodeId first);
  std::optional<Integers> KnownOfCall(hlo::Instruction instruction) const;
  // Returns true when a value is a constant, or computed from one by at most `links` instructions.
  bool CanClone(Op value, int links = kLinks) const;
  Op CloneFrom(const Scope& outer, Op value);
  static constexpr int kLinks = 4;

  Converter& converter_;
  const Scope* const outer_;
  hlo::Computation computation_;
  Builder builder_;
  absl::flat_hash_map<ValueId, Op> values_;
  absl::flat_hash_map<hlo::NodeId, Integers> known_;
};

}  // namespace hlod::stablehlo
