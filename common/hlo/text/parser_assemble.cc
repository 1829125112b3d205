// Resolves names to positions: orders computations and instructions so that each comes after those that it
// needs, and appends them to the module.
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "common/base/text/strings.h"
#include "common/hlo/inference/shape_inference.h"
#include "common/hlo/text/parser_internal.h"

namespace hlod::hlo::text {
namespace {

using absl::OkStatus;
using absl::Status;

// Returns an order of 0..needs.size()-1 in which each comes after those that it needs, as close to the
// original order as possible. `cycle` makes the error for an element that needs itself. Not recursive,
// because chains may be as long as the text.
template <typename Cycle>
absl::StatusOr<std::vector<uint32_t>> InOrderOfNeed(const std::vector<std::vector<uint32_t>>& needs,
                                                    Cycle cycle) {
  enum State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> state(needs.size(), kNew);
  std::vector<uint32_t> order;
  std::vector<std::pair<uint32_t, size_t>> open;  // (item, position of its next need)
  for (uint32_t first = 0; first < needs.size(); ++first) {
    if (state[first] != kNew) continue;
    state[first] = kOpen;
    open.emplace_back(first, 0);
    while (!open.empty()) {
      auto& [item, next] = open.back();
      if (next == needs[item].size()) {
        state[item] = kDone;
        order.push_back(item);
        open.pop_back();
        continue;
      }
      const uint32_t need = needs[item][next++];
      if (state[need] == kOpen) return cycle(need);
      if (state[need] == kNew) {
        state[need] = kOpen;
        open.emplace_back(need, 0);
      }
    }
  }
  return order;
}

class Assembler {
 public:
  Assembler(const Lexer& lexer, ParsedModule& parsed, Module& module)
      : lexer_(lexer), parsed_(parsed), module_(module) {}

  Status Run() {
    RETURN_IF_ERROR(ResolveCallees());
    ASSIGN_OR_RETURN(const std::vector<uint32_t> order, InOrderOfNeed(callees_, [&](uint32_t index) {
                       const ParsedComputation& computation = parsed_.computations[index];
                       return lexer_.ErrorAt(computation.at, "computation \"%s\" calls itself",
                                             computation.name);
                     }));
    ids_.resize(parsed_.computations.size());
    for (const uint32_t index : order) {
      ids_[index] = module_.computation_count();
      RETURN_IF_ERROR(AppendComputation(parsed_.computations[index], index));
    }
    module_.set_entry(ids_[parsed_.entry.value_or(parsed_.named.back())]);
    return OkStatus();
  }

 private:
  // Computes callees_[c], all computations that c calls; resolves references in place.
  Status ResolveCallees() {
    absl::flat_hash_map<absl::string_view, uint32_t> by_name;
    for (const uint32_t index : parsed_.named) {
      const ParsedComputation& computation = parsed_.computations[index];
      if (!by_name.emplace(computation.name, index).second) {
        return lexer_.ErrorAt(computation.at, "there is another computation \"%s\"", computation.name);
      }
    }
    callees_.resize(parsed_.computations.size());
    for (size_t c = 0; c < parsed_.computations.size(); ++c) {
      for (ParsedInstruction& instruction : parsed_.computations[c].instructions) {
        for (Reference& callee : instruction.called) {
          if (!callee.in_place) {
            const auto found = by_name.find(ToAbsl(callee.name));
            if (found == by_name.end())
              return lexer_.ErrorAt(callee.at, "computation \"%s\" is not defined in the module",
                                    callee.name);
            callee.in_place = found->second;
          }
          callees_[c].push_back(*callee.in_place);
        }
      }
    }
    return OkStatus();
  }

  Status AppendComputation(ParsedComputation& parsed, uint32_t index) {
    computation_ = &module_.AddComputation(parsed.name);
    computation_->config.execution_thread = parsed.execution_thread;
    absl::flat_hash_map<absl::string_view, uint32_t> by_name;
    for (uint32_t i = 0; i < parsed.instructions.size(); ++i) {
      if (!by_name.emplace(parsed.instructions[i].name, i).second) {
        return lexer_.ErrorAt(parsed.instructions[i].at,
                              "there is another instruction \"%s\" in this computation",
                              parsed.instructions[i].name);
      }
    }
    // needs[i] lists operands, then control predecessors.
    std::vector<std::vector<uint32_t>> needs(parsed.instructions.size());
    for (uint32_t i = 0; i < parsed.instructions.size(); ++i) {
      for (const auto* references :
           {&parsed.instructions[i].operands, &parsed.instructions[i].control_predecessors}) {
        for (const Reference& reference : *references) {
          const auto found = by_name.find(ToAbsl(reference.name));
          if (found == by_name.end()) {
            return lexer_.ErrorAt(reference.at, "instruction \"%s\" is not defined in this computation",
                                  reference.name);
          }
          needs[i].push_back(found->second);
        }
      }
    }
    ASSIGN_OR_RETURN(const std::vector<uint32_t> order, InOrderOfNeed(needs, [&](uint32_t i) {
                       return lexer_.ErrorAt(parsed.instructions[i].at,
                                             "instruction \"%s\" depends on itself",
                                             parsed.instructions[i].name);
                     }));
    RETURN_IF_ERROR(CheckParameters(parsed));
    std::vector<NodeId> nodes(parsed.instructions.size());
    std::optional<uint32_t> root;
    for (const uint32_t i : order) {
      ParsedInstruction& instruction = parsed.instructions[i];
      std::vector<NodeId> needed;
      for (const uint32_t need : needs[i]) needed.push_back(nodes[need]);
      ASSIGN_OR_RETURN(nodes[i], AppendInstruction(instruction, needed));
      if (!instruction.is_root) continue;
      if (root) return lexer_.ErrorAt(instruction.at, "there is another ROOT in this computation");
      root = i;
    }
    computation_->set_root(nodes[root.value_or(static_cast<uint32_t>(parsed.instructions.size()) - 1)]);
    return OkStatus();
  }

  Status CheckParameters(const ParsedComputation& parsed) const {
    const auto count = static_cast<int64_t>(parsed.instructions.size());
    std::set<int64_t> numbers;
    for (const ParsedInstruction& instruction : parsed.instructions) {
      if (instruction.opcode != kParameter) continue;
      const int64_t number = std::get<ParameterAttributes>(instruction.attributes).number;
      if (number < 0 || number >= count) {
        return lexer_.ErrorAt(instruction.at, "parameter number %d in a computation of %d instructions",
                              number, count);
      }
      if (!numbers.insert(number).second)
        return lexer_.ErrorAt(instruction.at, "there is another parameter %d", number);
    }
    return OkStatus();
  }

  absl::StatusOr<NodeId> AppendInstruction(ParsedInstruction& parsed, const std::vector<NodeId>& needed) {
    const absl::Span<const NodeId> operands(needed.data(), parsed.operands.size());
    parsed.notes.control_predecessors.assign(needed.begin() + operands.size(), needed.end());
    absl::InlinedVector<const Shape*, 8> shapes;
    for (const NodeId operand : operands) shapes.push_back(&(*computation_)[operand].shape());
    absl::InlinedVector<ComputationId, 4> called;
    for (const Reference& callee : parsed.called) called.push_back(ids_[*callee.in_place]);
    FinishAttributes(parsed, shapes);
    if (!parsed.shape) {
      std::vector<ProgramShape> signatures;
      for (const ComputationId callee : called)
        signatures.push_back(module_.computation(callee).program_shape());
      absl::InlinedVector<const ProgramShape*, 4> signature_pointers;
      for (const ProgramShape& signature : signatures) signature_pointers.push_back(&signature);
      absl::StatusOr<Shape> inferred =
          InferShape({parsed.opcode, parsed.attributes, shapes, signature_pointers});
      if (!inferred.ok()) return lexer_.At(parsed.at, inferred.status());
      parsed.shape = *std::move(inferred);
    }
    if (parsed.opcode == kFusion) module_.computation(called[0]).config.is_fusion = true;
    const NodeId node = computation_->Append(parsed.opcode, module_.tables().Intern(*parsed.shape),
                                             module_.tables().Intern(parsed.attributes), operands, called);
    computation_->mutable_notes(node) = std::move(parsed.notes);
    return node;
  }

  // Completes attributes whose meaning depends on the operands.
  static void FinishAttributes(ParsedInstruction& parsed, absl::Span<const Shape* const> operands) {
    if (auto* compare = std::get_if<CompareAttributes>(&parsed.attributes)) {
      if (!parsed.states_comparison_type && !operands.empty())
        compare->type = DefaultComparisonType(operands[0]->type);
    }
    if (parsed.opcode == kMap && !operands.empty()) {  // A text without them means all of them.
      Dims& dimensions = std::get<DimensionsAttributes>(parsed.attributes).dimensions;
      if (dimensions.empty() && operands[0]->IsArray()) {
        dimensions.resize(operands[0]->rank());
        std::iota(dimensions.begin(), dimensions.end(), 0);
      }
    }
    auto pad = [&](Precision& precision) {
      if (!precision.operand.empty())
        precision.operand.resize(std::max(precision.operand.size(), std::min<size_t>(operands.size(), 2)), 0);
    };
    if (auto* dot = std::get_if<DotAttributes>(&parsed.attributes)) pad(dot->precision);
    if (auto* ragged = std::get_if<RaggedDotAttributes>(&parsed.attributes)) pad(ragged->dot.precision);
    if (auto* convolution = std::get_if<ConvolutionAttributes>(&parsed.attributes))
      pad(convolution->precision);
  }

  const Lexer& lexer_;
  ParsedModule& parsed_;
  Module& module_;
  Computation* computation_ = nullptr;
  std::vector<std::vector<uint32_t>> callees_;
  std::vector<ComputationId> ids_;  // The ids by parsed computation.
};

}  // namespace

Status Assemble(const Lexer& lexer, ParsedModule& parsed, Module& module) {
  return Assembler(lexer, parsed, module).Run();
}

}  // namespace hlod::hlo::text
