// A computation that is being made of a function's or a region's operations.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "client/import/conversion.h"
#include "client/import/decoration.h"
#include "client/import/operation.h"
#include "common/hlo/builder.h"

namespace hlod::stablehlo {

// How values enter a computation: one parameter each, or one parameter that is the tuple of all of them
// unless there is exactly one (loops and branches, as XLA makes them).
enum class Packing { kParameters, kTuple };

class Converter {
 public:
  // Both outlive the converter. `has_unknown`: some type of the program has an unknown dimension. Then a
  // function is a computation for each list of shapes and of known numbers that it is called with.
  Converter(const Program& program, hlo::Module& module, bool has_unknown, bool with_rules);

  hlo::Module& module() const { return module_; }
  const Program& program() const { return program_; }
  bool has_unknown() const { return has_unknown_; }
  // Whether special functions are under rules of differentiation.
  bool with_rules() const { return with_rules_; }
  const Meshes& meshes() const { return meshes_; }

  const Function* FindFunction(std::string_view name) const;
  // The function as a computation over such arguments, made when it is first asked for. Errors that are not
  // about an operation inside name `caller`.
  struct Argument {
    Shape shape;
    std::optional<hlo::Literal> known;  // Takes the argument's place in the body.
  };
  absl::StatusOr<ComputationId> FunctionOf(std::string_view name, const std::vector<Argument>& arguments,
                                           const Operation& caller);

  // The numbers that the results of a function are known to be; null: none of them.
  using KnownValues = std::vector<std::optional<Integers>>;
  const KnownValues* KnownResults(ComputationId function) const {
    const auto found = known_results_.find(function);
    return found == known_results_.end() ? nullptr : &found->second;
  }

  // Appends a finished computation to the module.
  absl::StatusOr<ComputationId> Add(hlo::Computation computation);
  std::string RegionName();
  // Errors when one more computation inside those that are being made would be too deep.
  absl::Status CheckDepth() const;

 private:
  friend class Scope;
  const Program& program_;
  hlo::Module& module_;
  const bool has_unknown_, with_rules_;
  const Meshes meshes_;
  std::map<std::string, const Function*, std::less<>> functions_;
  absl::flat_hash_map<std::string, std::optional<ComputationId>> made_;  // Nothing: under way.
  absl::flat_hash_map<ComputationId, KnownValues> known_results_;
  int regions_ = 0, depth_ = 0;
  int64_t instructions_ = 0;
};

class Scope {
 public:
  // `outer`, if not null, is the scope of the operation that the region belongs to: constants are found
  // there.
  Scope(Converter& converter, std::string name, const Scope* outer = nullptr);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

  Converter& converter() const { return converter_; }
  Builder& builder() { return builder_; }

  // Makes parameters for `values` of `shapes`.
  void AddParameters(absl::Span<const ValueId> values, absl::Span<const Shape> shapes, Packing packing);
  void Define(ValueId id, Op value) { values_[id] = value; }
  // The values of `ids`; constants of outer scopes are cloned. An error names the first that is not defined,
  // or is another value of an outer scope.
  absl::StatusOr<std::vector<Op>> FindAll(absl::Span<const ValueId> ids);

  // Converts the operations of a block whose arguments are defined, and returns the values that it ends with.
  absl::StatusOr<std::vector<Op>> ConvertBlock(const Block& block);
  // The block of a region, when it has one.
  static absl::StatusOr<const Block*> OnlyBlock(const Region& region);

  // Ends the computation with `results`, a tuple unless there is one. REQUIRES: nothing is done with the
  // scope after.
  absl::StatusOr<ComputationId> Finish(const std::vector<Op>& results);

  // `region` of `operation` as a computation inside this scope. Its arguments have `shapes`; after them it
  // takes `captured` values of this scope, and `returned` of those after its results. Errors name the
  // operation.
  struct RegionForm {
    std::vector<Shape> shapes;
    std::vector<ValueId> captured;
    bool return_captured = false;
    Packing packing = Packing::kParameters;
  };
  absl::StatusOr<ComputationId> AddRegion(const Operation& operation, const Region& region,
                                          const RegionForm& form);

  // The values of this scope that operations in `regions` use and that cannot be cloned into them, in the
  // order of their first use.
  std::vector<ValueId> Captured(absl::Span<const Region> regions) const;

  // What makes a value of this scope.
  hlo::Instruction instruction(Op value) const { return computation_[value.id]; }
  // The number or the small array of integers that a value is known to be.
  const Integers* Known(Op value) const;
  std::optional<hlo::Literal> KnownLiteral(Op value) const;
  // Defines a value that is known.
  void DefineKnown(ValueId id, const hlo::Literal& value);

  // Of the operation that is being converted; its conversion may add to it.
  Decoration decoration;

 private:
  absl::Status Convert(const Operation& operation);
  void Decorate(hlo::NodeId first, const Operation& operation);
  void LearnKnown(hlo::NodeId first);
  std::optional<Integers> KnownOfCall(hlo::Instruction instruction) const;
  // Whether a value is a constant, or a short chain of instructions over one.
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
