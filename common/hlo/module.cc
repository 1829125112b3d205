// The arena of instructions, and the tables of shapes, attributes and literals that they share.
#include "common/hlo/module.h"

#include <algorithm>

#include "common/base/text/strings.h"
#include "common/hlo/hash.h"

namespace hlod::hlo {
namespace {

constexpr int64_t kComparedLiteralBytes = 64 << 10;
// The limit on comparisons with values of equal hash; more exist only when the seed has leaked.
constexpr size_t kComparedMax = 64;

bool IsCompared(const Literal& literal) {
  int64_t bytes = 0;
  for (const Literal* leaf : literal.Leaves()) bytes += static_cast<int64_t>(leaf->bytes().size());
  return bytes <= kComparedLiteralBytes;
}

}  // namespace

template <typename Equal>
uint32_t Tables::Index::FindOrAdd(uint64_t hash, uint32_t next, Equal equal) {
  Slot& recent = recent_[hash % kSlots];
  if (recent.hash == hash && recent.id != UINT32_MAX && equal(recent.id)) return recent.id;
  auto& ids = ids_[hash];
  const auto found = std::find_if(ids.begin(), ids.end(), equal);
  const uint32_t id = found == ids.end() ? next : *found;
  if (found == ids.end() && ids.size() < kComparedMax) ids.push_back(next);
  recent = {hash, id};
  return id;
}

Tables::Tables() { Intern(Attributes(NoAttributes{})); }
Tables::~Tables() = default;

Computation::Computation(std::shared_ptr<Tables> tables, std::string name)
    : tables_(std::move(tables)), name_(std::move(name)) {}
Computation::Computation(const Computation&) = default;
Computation::Computation(Computation&&) noexcept = default;
Computation& Computation::operator=(const Computation&) = default;
Computation& Computation::operator=(Computation&&) noexcept = default;
Computation::~Computation() = default;
Module::~Module() = default;

void ModuleConfig::ClearSignature() {
  entry_layout = {};
  input_output_alias.clear();
  buffer_donors.clear();
}

// Here, and not in the header, which would make every file that includes it instantiate the variant.
const Attributes& Tables::attributes(AttributesId id) const { return attributes_[id]; }
const Dims& Instruction::dimensions() const { return attributes<DimensionsAttributes>().dimensions; }
const Literal& Instruction::literal() const {
  return computation_->tables().literal(attributes<ConstantAttributes>().literal);
}
int64_t Instruction::parameter_number() const { return attributes<ParameterAttributes>().number; }

ShapeId Tables::Intern(const Shape& shape) {
  const auto next = static_cast<ShapeId>(shapes_.size());
  const ShapeId id =
      shape_index_.FindOrAdd(HashOf(shape), next, [&](ShapeId other) { return shapes_[other] == shape; });
  if (id == next) shapes_.push_back(shape);
  return id;
}

AttributesId Tables::Intern(const Attributes& attributes) {
  if (attributes.index() == 0 && !attributes_.empty()) return 0;
  const auto next = static_cast<AttributesId>(attributes_.size());
  const AttributesId id = attributes_index_.FindOrAdd(
      HashOf(attributes), next, [&](AttributesId other) { return attributes_[other] == attributes; });
  if (id == next) attributes_.push_back(attributes);
  return id;
}

LiteralId Tables::Intern(std::shared_ptr<const Literal> literal) {
  const auto next = static_cast<LiteralId>(literals_.size());
  if (IsCompared(*literal)) {
    const LiteralId id = literal_index_.FindOrAdd(
        HashOf(*literal), next, [&](LiteralId other) { return *literals_[other] == *literal; });
    if (id != next) return id;
  }
  literals_.push_back(std::move(literal));
  return next;
}

std::string Instruction::name() const {
  const Notes* notes = computation_->notes(id_);
  if (notes != nullptr && !notes->name.empty()) return notes->name;
  return absl::StrCat(ToAbsl(Name(opcode())), ".", id_);
}

NodeId Computation::Append(Opcode opcode, ShapeId shape, AttributesId attributes,
                           absl::Span<const NodeId> operands, absl::Span<const ComputationId> called) {
  const NodeId id = size();
  *offsets_.Extend(1) = static_cast<uint32_t>(words_.size());
  uint32_t* word = words_.Extend(4 + operands.size() + called.size());
  *word++ = static_cast<uint32_t>(opcode) | static_cast<uint32_t>(called.size()) << 8;
  *word++ = static_cast<uint32_t>(operands.size());
  *word++ = shape;
  *word++ = attributes;
  for (const NodeId operand : operands) *word++ = operand;
  for (const ComputationId callee : called) *word++ = callee;
  if (opcode == kParameter)
    AddParameter(std::get<ParameterAttributes>(tables_->attributes(attributes)).number, id);
  return id;
}

void Computation::Clear() {
  words_.Clear();
  offsets_.Clear();
  parameters_.clear();
  early_parameters_.clear();
  notes_.clear();
  root_ = kNoNode;
}

void Computation::AddParameter(int64_t number, NodeId id) {
  // A client chooses the number, so memory grows with the count of parameters, not with their numbers.
  if (number != static_cast<int64_t>(parameters_.size())) {
    early_parameters_.emplace(number, id);
    return;
  }
  parameters_.push_back(id);
  auto next = early_parameters_.find(number + 1);
  while (next != early_parameters_.end() && next->first == static_cast<int64_t>(parameters_.size())) {
    parameters_.push_back(next->second);
    next = early_parameters_.erase(next);
  }
}

ProgramShape Computation::program_shape() const {
  ProgramShape signature;
  for (const NodeId id : parameters_) {
    signature.parameters.push_back((*this)[id].shape());
    signature.parameter_names.push_back((*this)[id].name());
  }
  if (size() > 0) signature.result = root().shape();
  return signature;
}

const Notes* Computation::notes(NodeId id) const {
  if (notes_.empty()) return nullptr;
  const auto found = notes_.find(id);
  return found == notes_.end() ? nullptr : found->second.get();
}

Notes& Computation::mutable_notes(NodeId id) {
  std::shared_ptr<Notes>& notes = notes_[id];
  if (notes == nullptr) {
    notes = std::make_shared<Notes>();
  } else if (notes.use_count() > 1) {
    notes = std::make_shared<Notes>(*notes);
  }
  return *notes;
}

void Computation::ShareNotes(NodeId id, const Computation& other, NodeId other_id) {
  const auto found = other.notes_.find(other_id);
  if (found == other.notes_.end()) return;
  // This is probably the first note of a copy: growing step by step would take longer than everything else
  // that a pass does with notes.
  if (notes_.empty()) notes_.reserve(other.notes_.size());
  // `other` may be *this, whose table is reallocated when it grows.
  std::shared_ptr<Notes> notes = found->second;
  notes_[id] = std::move(notes);
}

Computation& Module::AddComputation(std::string name) {
  computations_.push_back(std::make_unique<Computation>(tables_, std::move(name)));
  return *computations_.back();
}

int64_t Module::instruction_count() const {
  int64_t count = 0;
  for (const auto& computation : computations_) count += computation->size();
  return count;
}

}  // namespace hlod::hlo
