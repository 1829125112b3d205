// Builds tile programs: converts HLO instructions to calls on tiles.
#include <algorithm>
#include <cstring>

#include "server/engine/tile/program.h"

namespace hlod::engine {
namespace {

// Returns true for operations whose results need no rounding or wrapping if their operands needed none.
bool KeepsRange(hlo::Opcode opcode, Carrier carrier) {
  switch (opcode) {
    case hlo::kSelect:
    case hlo::kClamp:
    case hlo::kMaximum:
    case hlo::kMinimum:
    case hlo::kAnd:
    case hlo::kOr:
    case hlo::kXor: return true;
    case hlo::kAbs:
    case hlo::kNegate:
    case hlo::kSign:
    case hlo::kFloor:
    case hlo::kCeil: return carrier == Carrier::kF32;
    default: return false;
  }
}

int64_t ImmediateOf(hlo::Instruction instruction) {
  switch (instruction.opcode()) {
    case hlo::kShiftLeft:
    case hlo::kShiftRightLogical:
    case hlo::kShiftRightArithmetic:
    case hlo::kPopcnt:
    case hlo::kMulhi:
    case hlo::kClz: return hlo::Info(instruction.shape().type).bits;
    case hlo::kCompare: {
      const auto& compare = instruction.attributes<hlo::CompareAttributes>();
      return static_cast<int64_t>(compare.direction) |
             (compare.type == hlo::ComparisonType::kTotalOrder ? 1 << 8 : 0);
    }
    case hlo::kReducePrecision: {
      const auto& precision = instruction.attributes<hlo::ReducePrecisionAttributes>();
      return precision.exponent_bits | precision.mantissa_bits << 8;
    }
    default: return 0;
  }
}

// Returns the type of the operand whose carrier determines the function.
hlo::PrimitiveType FunctionType(hlo::Instruction instruction) {
  return instruction.operand(instruction.opcode() == hlo::kSelect ? 1 : 0).shape().type;
}

bool IsFree(hlo::PrimitiveType from, hlo::PrimitiveType to) {
  return IsCarrierStorage(from) && IsCarrierStorage(to) && hlo::ByteWidth(from) == hlo::ByteWidth(to) &&
         hlo::ByteWidth(from) >= 4;
}

// Sets the carrier of elements as stored in memory: with `bits`, floats narrower than f32 keep their bits,
// and other types have none (returns false).
bool FormOf(hlo::PrimitiveType type, bool bits, Carrier* carrier) {
  if (!bits) return CarrierOf(type, carrier);
  if (!hlo::IsFloat(type) || hlo::Info(type).bits >= 32) return false;
  *carrier = hlo::ByteWidth(type) == 1 ? Carrier::kU8 : Carrier::kU16;
  return true;
}
TileFunction LoadOf(hlo::PrimitiveType type, bool bits) { return bits ? nullptr : FunctionOf(TileOp::Load(type)); }

}  // namespace

bool IsTileInstruction(hlo::Instruction instruction) {
  Carrier result;
  if (!CarrierOf(instruction.shape().type, &result) || instruction.operand_count() == 0) return false;
  const hlo::PrimitiveType from = instruction.operand(0).shape().type;
  if (instruction.opcode() == hlo::kConvert) return CarrierOf(from, &result);
  if (instruction.opcode() == hlo::kBitcastConvert) return IsFree(from, instruction.shape().type);
  if (!hlo::HasTrait(instruction.opcode(), hlo::kElementwise)) return false;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    Carrier carrier;
    if (!CarrierOf(instruction.operand(i).shape().type, &carrier)) return false;
  }
  Carrier carrier;
  CarrierOf(FunctionType(instruction), &carrier);
  // Complex numbers have no order.
  if (instruction.opcode() == hlo::kCompare && IsComplexCarrier(carrier)) {
    const hlo::ComparisonDirection direction = instruction.attributes<hlo::CompareAttributes>().direction;
    return direction == hlo::ComparisonDirection::kEq || direction == hlo::ComparisonDirection::kNe;
  }
  return GetTileOps().elementwise(instruction.opcode(), carrier) != nullptr;
}

int TileProgram::Builder::NewValue(Carrier carrier) {
  program_->values_.push_back({.carrier = carrier});
  return static_cast<int>(program_->values_.size()) - 1;
}

int TileProgram::Builder::Emit(const TileOp& op, int a, int b, int c, int64_t immediate, Carrier carrier) {
  const int out = NewValue(carrier);
  program_->code_.push_back(
      {.function = FunctionOf(op), .op = op, .out = out, .a = a, .b = b, .c = c, .immediate = immediate});
  return out;
}

// Returns a value rounded or wrapped to `type`, or the value itself if that would not change it.
int TileProgram::Builder::Narrow(int value, hlo::PrimitiveType type) {
  const TileOp narrow = TileOp::Narrow(type);
  if (FunctionOf(narrow) == nullptr) return value;
  const int narrowed = Emit(narrow, value, -1, -1, 0, program_->values_[value].carrier);
  program_->values_[narrowed].unrounded = value;
  program_->values_[narrowed].narrowed_to = type;
  return narrowed;
}

// Returns the unrounded value for a store of `type`, because stores round by themselves: a value that is only
// stored need not be narrowed. A store of a wider type, to which the value was converted, would wrap less.
int TileProgram::Builder::Stored(int value, hlo::PrimitiveType type) {
  const Value& stored = program_->values_[value];
  if (stored.unrounded < 0 || stored.narrowed_to != type) return value;
  program_->has_unread_ = true;
  return stored.unrounded;
}

// Returns a tile of one value in constant memory.
int TileProgram::Builder::ConstantTile(Carrier carrier, double value) {
  TileProgram& program = *program_;
  const int n = static_cast<int>(std::min<int64_t>(count_, kTile));
  const int bytes = CarrierBytes(carrier);
  const size_t blocks = (static_cast<size_t>(n) * bytes + 63) / 64;
  const size_t first = program.constants_.size();
  program.constants_.resize(first + blocks);
  std::byte* out = program.constants_[first].bytes;
  for (int i = 0; i < n; ++i) {
    if (carrier == Carrier::kF32) {
      const float f = static_cast<float>(value);
      std::memcpy(out + i * 4, &f, 4);
    } else {
      std::memcpy(out + i * 8, &value, 8);
    }
  }
  const int id = NewValue(carrier);
  program.values_[id].place = Value::Place::kConstant;
  program.values_[id].index = static_cast<int>(first * 64);
  return id;
}

int TileProgram::Builder::Constant(hlo::Instruction constant, Form form) {
  const hlo::Literal& literal = constant.literal();
  Carrier carrier;
  if (literal.element_count() != 1 || !FormOf(literal.shape().type, form == Form::kBits, &carrier)) return -1;
  TileProgram& program = *program_;
  // Widens one element by the load, then copies it to the whole tile.
  alignas(kCarrierBytesMax) std::byte element[kCarrierBytesMax] = {};
  if (const TileFunction load = LoadOf(literal.shape().type, form == Form::kBits))
    load(element, literal.bytes().data(), nullptr, nullptr, 1, 0);
  else std::memcpy(element, literal.bytes().data(), literal.bytes().size());
  const int n = static_cast<int>(std::min<int64_t>(count_, kTile));
  const int bytes = CarrierBytes(carrier);
  const size_t first = program.constants_.size();
  program.constants_.resize(first + (static_cast<size_t>(n) * bytes + 63) / 64);
  std::byte* out = program.constants_[first].bytes;
  for (int i = 0; i < n; ++i) std::memcpy(out + i * bytes, element, bytes);
  const int id = NewValue(carrier);
  program.values_[id].place = Value::Place::kConstant;
  program.values_[id].index = static_cast<int>(first * 64);
  return id;
}

int TileProgram::Builder::Operand(hlo::NodeId node) {
  if (const auto it = values_.find(node); it != values_.end()) return it->second;
  if (const auto it = bits_.find(node); it != bits_.end() && !inputs_.contains(node)) {
    // The node is available as bits, and is now needed as a number.
    const TileOp load = TileOp::Load(computation_[node].shape().type);
    return values_[node] = Emit(load, it->second, -1, -1, 0, Carrier::kF32);
  }
  const View view = ResolveView(computation_, node, count_);
  // A reshape of a value that is computed here has the same elements in the same order.
  if (view.IsIdentity() && view.count == count_ && view.base != node &&
      (values_.contains(view.base) || bits_.contains(view.base)))
    return values_[node] = Operand(view.base);
  const int value = Memory(node, view, Form::kCarrier);
  if (value >= 0) values_[node] = value;
  return value;
}

// Returns true when a float narrower than f32 is available as stored in memory instead of computed as a
// number.
bool TileProgram::Builder::HasBits(hlo::NodeId node) const {
  if (bits_.contains(node)) return true;
  if (values_.contains(node)) return false;
  const View view = ResolveView(computation_, node, count_);
  if (view.is_iota || values_.contains(view.base)) return false;
  return inputs_.contains(view.base) ||
         (computation_[view.base].opcode() == hlo::kConstant && (view.IsScalar() || count_ == 1));
}

int TileProgram::Builder::Bits(hlo::NodeId node) {
  if (const auto it = bits_.find(node); it != bits_.end()) return it->second;
  const int value = Memory(node, ResolveView(computation_, node, count_), Form::kBits);
  if (value >= 0) bits_[node] = value;
  return value;
}

// Returns false when the instruction needs numbers, or its operands are not available as bits.
bool TileProgram::Builder::AddOnBits(hlo::Instruction instruction) {
  const hlo::PrimitiveType from = FunctionType(instruction), to = instruction.shape().type;
  const TileOp op = TileOp::OnBits(instruction.opcode(), from, to);
  if (FunctionOf(op) == nullptr) return false;
  const uint32_t first = instruction.opcode() == hlo::kSelect ? 1 : 0;
  for (uint32_t i = first; i < instruction.operand_count(); ++i) {
    if (!HasBits(instruction.operands()[i])) return false;
  }
  int operand[3] = {-1, -1, -1};
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const hlo::NodeId node = instruction.operands()[i];
    operand[i] = i < first ? Operand(node) : Bits(node);
    if (operand[i] < 0) return false;
  }
  Carrier carrier;
  const bool bits = FormOf(to, true, &carrier);
  if (!bits) CarrierOf(to, &carrier);
  (bits ? bits_ : values_)[instruction.id()] = Emit(op, operand[0], operand[1], operand[2], 0, carrier);
  return true;
}

// Returns the value from which an output is written, and sets the function that stores it; null when it is
// stored unchanged.
int TileProgram::Builder::Result(hlo::NodeId node, TileFunction* store) {
  const auto bits = bits_.find(node);
  const bool has_bits = bits != bits_.end() && !values_.contains(node);
  *store = has_bits ? nullptr : FunctionOf(TileOp::Store(computation_[node].shape().type));
  return has_bits ? bits->second : Operand(node);
}

int TileProgram::Builder::Memory(hlo::NodeId node, const View& view, Form form) {
  TileProgram& program = *program_;
  const hlo::Instruction base = computation_[view.base];
  const hlo::PrimitiveType type = base.shape().type;
  Carrier carrier;
  if (!FormOf(type, form == Form::kBits, &carrier)) return -1;
  const auto input = inputs_.find(view.base);
  if (input == inputs_.end() && !view.is_iota) {
    if (base.opcode() != hlo::kConstant || !(view.IsScalar() || count_ == 1)) return -1;
    return Constant(base, form);
  }
  const int value = NewValue(carrier);
  if (view.is_iota) {
    program.views_.push_back(view);
    program.code_.push_back(
        {.kind = Instruction::Kind::kReadIota,
         .function = FunctionOf(TileOp::Convert(Carrier::kI64, carrier)),
         .out = value,
         .view = static_cast<int>(program.views_.size()) - 1});
    return Narrow(value, type);
  }
  const TileFunction load = LoadOf(type, form == Form::kBits);
  const int number = input->second;
  const int width = hlo::ByteWidth(type);
  program.Input(number).width = width;
  if (view.IsIdentity() && load == nullptr) {  // The input is read in place.
    program.values_[value].place = Value::Place::kInput;
    program.values_[value].index = number;
    program.values_[value].width = width;
    return value;
  }
  program.views_.push_back(view);
  const Instruction read{.kind = Instruction::Kind::kReadView,
                         .function = load,
                         .op = TileOp::Load(type),
                         .out = value,
                         .view = static_cast<int>(program.views_.size()) - 1,
                         .input = number,
                         .width = width};
  if (view.IsScalar() && count_ > 1) {
    program.values_[value].whole_run = true;
    program.prologue_.push_back(read);
  } else {
    program.code_.push_back(read);
  }
  if (!view.IsIdentity()) program.Input(number).viewed = true;
  return value;
}

void TileProgram::Builder::AddElementInput(hlo::NodeId node, int input) {
  TileProgram& program = *program_;
  const hlo::PrimitiveType type = computation_[node].shape().type;
  Carrier carrier = Carrier::kF32;
  if (!CarrierOf(type, &carrier)) return;  // Instructions that read this value fail.
  const int value = NewValue(carrier);
  const int width = hlo::ByteWidth(type);
  program.Input(input).width = width;
  values_[node] = value;
  if (const TileFunction load = FunctionOf(TileOp::Load(type))) {
    View view;
    view.base = node;
    view.count = count_;
    view.dims.push_back({count_, 1});
    program.views_.push_back(view);
    program.code_.push_back({.kind = Instruction::Kind::kReadView,
                             .function = load,
                             .op = TileOp::Load(type),
                             .out = value,
                             .view = static_cast<int>(program.views_.size()) - 1,
                             .input = input,
                             .width = width});
  } else {
    program.values_[value].place = Value::Place::kInput;
    program.values_[value].index = input;
    program.values_[value].width = width;
  }
}

bool TileProgram::Builder::AddLateOutput(hlo::NodeId node, int output) {
  TileFunction store;
  const int value = Result(node, &store);
  if (value < 0) return false;
  TileProgram& program = *program_;
  const int width = hlo::ByteWidth(computation_[node].shape().type);
  int source = value;
  if (program.values_[value].place == Value::Place::kInput) {
    // A parameter that is passed through is read before any output is written.
    source = NewValue(program.values_[value].carrier);
    program.code_.insert(program.code_.begin(),
                         {.kind = Instruction::Kind::kCopy, .out = source, .a = value, .width = width});
  }
  const bool writes = store == nullptr && WritesLate(source, width);
  if (store != nullptr) source = Stored(source, computation_[node].shape().type);
  const int out = writes ? source : NewValue(program.values_[source].carrier);
  program.values_[out].place = Value::Place::kOutput;
  program.values_[out].index = output;
  program.values_[out].width = width;
  if (writes) return true;
  program.code_.push_back({.kind = store != nullptr ? Instruction::Kind::kCall : Instruction::Kind::kCopy,
                           .function = store,
                           .op = TileOp::Store(computation_[node].shape().type),
                           .out = out,
                           .a = source,
                           .width = width});
  return true;
}

// Returns true when the instruction that computes a register may write directly to an output that shares
// memory with any input: no later instruction reads inputs, and the values that it reads itself have the same
// width, so that no element is overwritten before it is read.
bool TileProgram::Builder::WritesLate(int value, int width) const {
  const TileProgram& program = *program_;
  if (program.values_[value].place != Value::Place::kRegister || program.values_[value].whole_run)
    return false;
  for (size_t i = program.code_.size(); i-- > 0;) {
    const Instruction& instruction = program.code_[i];
    const bool makes = instruction.out == value;
    if (instruction.kind == Instruction::Kind::kReadView) return false;
    for (int operand : {instruction.a, instruction.b, instruction.c}) {
      if (operand < 0 || program.values_[operand].place != Value::Place::kInput) continue;
      if (!makes || program.values_[operand].width != width) return false;
    }
    if (makes) return true;
  }
  return false;
}

bool TileProgram::Builder::Add(hlo::NodeId node) {
  const hlo::Instruction instruction = computation_[node];
  if (AddOnBits(instruction)) return true;
  int operand[3] = {-1, -1, -1};
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    operand[i] = Operand(instruction.operands()[i]);
    if (operand[i] < 0) return false;
  }
  switch (instruction.opcode()) {
    case hlo::kBitcastConvert: values_[node] = BitcastValue(instruction, operand[0]); return true;
    case hlo::kConvert: values_[node] = ConvertValue(instruction, operand[0]); return true;
    default: break;
  }
  const hlo::PrimitiveType type = instruction.shape().type;
  Carrier carrier, result;
  CarrierOf(FunctionType(instruction), &carrier);
  CarrierOf(type, &result);
  const int value = Emit(TileOp::Elementwise(instruction.opcode(), carrier), operand[0], operand[1],
                         operand[2], ImmediateOf(instruction), result);
  values_[node] = KeepsRange(instruction.opcode(), carrier) ? value : Narrow(value, type);
  return true;
}

// The same bytes as another type. A separate value is needed only if its readers must know the carrier.
int TileProgram::Builder::BitcastValue(hlo::Instruction instruction, int operand) {
  Carrier result;
  CarrierOf(instruction.shape().type, &result);
  if (program_->values_[operand].carrier == result) return operand;
  const int value = NewValue(result);
  program_->code_.push_back(
      {.kind = Instruction::Kind::kCopy, .out = value, .a = operand, .width = CarrierBytes(result)});
  return value;
}

int TileProgram::Builder::ConvertValue(hlo::Instruction instruction, int source) {
  const hlo::PrimitiveType type = instruction.shape().type;
  hlo::PrimitiveType from_type = instruction.operand(0).shape().type;
  Carrier from = program_->values_[source].carrier, result;
  CarrierOf(type, &result);
  if (IsComplexCarrier(from) && !IsComplexCarrier(result) && result != Carrier::kPred) {
    from_type = hlo::RealType(from_type);
    CarrierOf(from_type, &from);
    const Carrier complex = from == Carrier::kF64 ? Carrier::kC128 : Carrier::kC64;
    source = Emit(TileOp::Elementwise(hlo::kReal, complex), source, -1, -1, 0, from);
  }
  const int bits = hlo::Info(type).bits, from_bits = hlo::Info(from_type).bits;
  const bool to_small_float = hlo::IsFloat(type) && bits < 32;
  if (hlo::IsFloat(from_type) && hlo::IsInteger(type) && bits < CarrierBytes(result) * 8) {
    // Saturates to the narrow type before the fraction is dropped, because wrapping would be wrong.
    const double low = hlo::IsSigned(type) ? -static_cast<double>(int64_t{1} << (bits - 1)) : 0;
    const double high = static_cast<double>((int64_t{1} << (hlo::IsSigned(type) ? bits - 1 : bits)) - 1);
    const int low_tile = ConstantTile(from, low), high_tile = ConstantTile(from, high);
    source = Emit(TileOp::Elementwise(hlo::kClamp, from), low_tile, source, high_tile, 0, from);
  }
  // A value that is not exact in f32 would be rounded twice if it were converted through f32.
  TileOp convert = TileOp::Odd(from);
  if (!to_small_float || from_bits <= 24 || FunctionOf(convert) == nullptr)
    convert = TileOp::Convert(from, result);
  const bool converts = FunctionOf(convert) != nullptr;
  const int value = converts ? Emit(convert, source, -1, -1, 0, result) : source;
  const bool narrows = bits < from_bits || hlo::Info(from_type).type_class != hlo::Info(type).type_class ||
                       (hlo::IsFloat(type) && from_type != type);
  return narrows ? Narrow(value, type) : value;
}

bool TileProgram::Builder::AddOutput(hlo::NodeId node, int output) {
  TileFunction store;
  const int value = Result(node, &store);
  if (value < 0) return false;
  TileProgram& program = *program_;
  const int width = hlo::ByteWidth(computation_[node].shape().type);
  program.Output(output).width = width;
  Value& stored = program.values_[value];
  const bool made_here = stored.place == Value::Place::kRegister && !stored.whole_run;
  if (store == nullptr && made_here) {
    // The instruction that computes it writes directly to the output, where later readers read it.
    stored.place = Value::Place::kOutput;
    stored.index = output;
    stored.width = width;
    for (size_t i = 0; i < program.code_.size(); ++i) {
      if (program.code_[i].out == value) program.Output(output).written = static_cast<int>(i);
    }
    return true;
  }
  const int out = NewValue(stored.carrier);
  program.values_[out].place = Value::Place::kOutput;
  program.values_[out].index = output;
  program.values_[out].width = width;
  program.Output(output).written = static_cast<int>(program.code_.size());
  program.code_.push_back({.kind = store != nullptr ? Instruction::Kind::kCall : Instruction::Kind::kCopy,
                           .function = store,
                           .op = TileOp::Store(computation_[node].shape().type),
                           .out = out,
                           .a = store != nullptr ? Stored(value, computation_[node].shape().type) : value,
                           .width = width});
  return true;
}

int TileProgram::Builder::Keep(hlo::NodeId node) {
  const int value = Operand(node);
  if (value >= 0) program_->kept_.push_back(value);
  return value;
}

// Drops instructions that narrowed values only for outputs.
void TileProgram::Builder::DropUnread() {
  TileProgram& program = *program_;
  std::vector<bool> read(program.values_.size(), false);
  for (const Instruction& instruction : program.code_) {
    for (int operand : {instruction.a, instruction.b, instruction.c}) {
      if (operand >= 0) read[operand] = true;
    }
  }
  for (int value : program.kept_) read[value] = true;
  std::vector<int> place(program.code_.size());  // The new position of each instruction.
  size_t kept = 0;
  for (size_t i = 0; i < program.code_.size(); ++i) {
    const Instruction instruction = program.code_[i];
    place[i] = static_cast<int>(kept);
    const Value& out = program.values_[instruction.out];
    if (out.unrounded >= 0 && out.place == Value::Place::kRegister && !read[instruction.out]) continue;
    program.code_[kept++] = instruction;
  }
  program.code_.resize(kept);
  for (OutputUse& output : program.outputs_) {
    if (output.written >= 0) output.written = place[output.written];
  }
}

TileProgram TileProgram::Builder::Build() && {
  TileProgram& program = *program_;
  if (program.has_unread_) DropUnread();
  for (size_t i = 0; i < program.code_.size(); ++i) {
    const Instruction& instruction = program.code_[i];
    for (int operand : {instruction.a, instruction.b, instruction.c}) {
      if (operand < 0) continue;
      program.values_[operand].last_use = static_cast<int>(i);
      if (program.values_[operand].place == Value::Place::kInput) {
        program.Input(program.values_[operand].index).last_read = static_cast<int>(i);
      }
    }
    if (instruction.input >= 0) program.Input(instruction.input).last_read = static_cast<int>(i);
  }
  for (int value : program.kept_) {
    program.values_[value].last_use = static_cast<int>(program.code_.size());
    if (program.values_[value].place == Value::Place::kInput) {
      program.Input(program.values_[value].index).last_read = static_cast<int>(program.code_.size());
    }
  }
  program.AssignRegisters();
  return std::move(program);
}

}  // namespace hlod::engine
