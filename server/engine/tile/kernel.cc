// Divides ranges of the domain into pieces in which every operand is a plain pointer: runs of views, or tiles
// if the interpreter has to read some operands.
#include "server/engine/tile/kernel.h"

#include <algorithm>
#include <set>

namespace hlod::engine {

namespace {

using OperandKind = TileKernel::Operand::Kind;
using ReadForm = TileProgram::ReadForm;

// The bounds on the code of a kernel's frame, of an ordinary instruction, and of a polynomial.
constexpr int64_t kFrameCode = 1536, kOrdinaryCode = 320, kPolynomialCode = 1536;

bool IsPolynomial(const TileProgram::Instruction& instruction) {
  if (instruction.kind != TileProgram::Instruction::Kind::kCall) return false;
  if (instruction.op.kind != TileOp::Kind::kElementwise) return false;
  switch (instruction.op.opcode) {
    case hlo::kDivide:
    case hlo::kRemainder: return instruction.op.from != Carrier::kF32 && instruction.op.from != Carrier::kF64;
    case hlo::kExponential:
    case hlo::kExponentialMinusOne:
    case hlo::kLog:
    case hlo::kLogPlusOne:
    case hlo::kTanh:
    case hlo::kLogistic:
    case hlo::kErf:
    case hlo::kSine:
    case hlo::kCosine: return true;
    default: return false;
  }
}

int64_t CodeBytesMax(const TileProgram::Instruction& instruction) {
  if (!IsPolynomial(instruction)) return kOrdinaryCode;
  // Elements of 64 bits take two vectors, and sines are computed in f64.
  const hlo::Opcode opcode = instruction.op.opcode;
  const bool twice = CarrierBytes(instruction.op.from) > 4 || opcode == hlo::kSine || opcode == hlo::kCosine;
  return twice ? 2 * kPolynomialCode : kPolynomialCode;
}

}  // namespace

int64_t KernelSlot::code_bytes_max() const {
  int64_t bytes = kFrameCode;
  for (const TileProgram::Instruction& instruction : program_.code()) bytes += CodeBytesMax(instruction);
  return bytes;
}

int64_t KernelSlot::table_bytes_max() const {
  if (count_ > kTableElementsMax || form_ != KernelForm::kMap) return 0;
  std::set<std::vector<int64_t>> found;
  for (const TileProgram::Instruction& instruction : program_.code()) {
    if (instruction.view < 0) continue;
    const TileProgram::ReadForm form = program_.ReadFormOf(instruction);
    if (form == ReadForm::kDense || form == ReadForm::kScalar) continue;
    // Views that differ by their offsets share a table, but for those of numbers and of wide elements.
    std::vector<int64_t> view{
        instruction.kind == TileProgram::Instruction::Kind::kReadIota ? 0 : instruction.width};
    for (const View::Dimension& d : program_.views()[static_cast<size_t>(instruction.view)].dims)
      view.insert(view.end(), {d.size, d.stride});
    found.insert(std::move(view));
  }
  constexpr int64_t kLanesMax = 16;
  return static_cast<int64_t>(found.size()) * (count_ + kLanesMax) * (4 + 1);
}

KernelRun::KernelRun(const TileProgram& program, const TileKernel& kernel, const std::byte* const* inputs,
                     std::byte* const* outputs, std::byte* workspace)
    : program_(program), kernel_(kernel), inputs_(inputs), outputs_(outputs), workspace_(workspace) {
  std::byte* staged = workspace + kTile * 8;
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    const TileKernel::Operand& operand = kernel.operands[i];
    if (operand.kind != OperandKind::kRead) continue;
    switch (operand.form) {
      case ReadForm::kScalar:
        pointers_[i] = inputs[operand.read.input] +
                       program.views()[static_cast<size_t>(operand.read.view)].offset * operand.read.width;
        break;
      case ReadForm::kRun:
      case ReadForm::kIota: run_operands_[run_count_++] = i; break;
      case ReadForm::kStaged:
        pointers_[i] = staged;
        staged += StagedBytes(program);
        in_tiles_ = true;
        if (const int64_t period = program.PeriodOf(operand.read); period != 0) StagePeriod(i, period);
        break;
      case ReadForm::kDense: break;
    }
  }
}

void KernelRun::Seek(int64_t start) {
  if (start == cursors_at_) return;
  cursors_at_ = start;
  for (size_t r = 0; r < run_count_; ++r) {
    const int view = kernel_.operands[run_operands_[r]].read.view;
    cursors_[r] = RunCursor(program_.views()[static_cast<size_t>(view)], start);
  }
}

// Sets the pointers to element `start`, before which `done` elements of this row were computed; it is number
// `row`.
void KernelRun::Point(int64_t start, int64_t done, int64_t row) {
  for (size_t i = 0; i < kernel_.operands.size(); ++i) {
    const TileKernel::Operand& operand = kernel_.operands[i];
    switch (operand.kind) {
      case OperandKind::kInput: pointers_[i] = inputs_[operand.number] + start * operand.width; break;
      case OperandKind::kOutput: pointers_[i] = outputs_[operand.number] + start * operand.width; break;
      case OperandKind::kAccumulator:
        pointers_[i] = accumulators_[operand.number] + row * operand.step + done * operand.width;
        break;
      case OperandKind::kRead:
        if (operand.form == ReadForm::kDense)
          pointers_[i] = inputs_[operand.read.input] + start * operand.read.width;
        break;
    }
  }
  PointRuns();
}

// Sets the pointers of operands that are read in runs to their cursors.
void KernelRun::PointRuns() {
  for (size_t r = 0; r < run_count_; ++r) {
    const size_t i = run_operands_[r];
    const TileKernel::Operand& operand = kernel_.operands[i];
    if (operand.form == ReadForm::kIota) {
      numbers_[r] = cursors_[r].offset();
      pointers_[i] = reinterpret_cast<const std::byte*>(&numbers_[r]);
    } else {
      pointers_[i] = inputs_[operand.read.input] + cursors_[r].offset() * operand.read.width;
    }
  }
}

// Reads the first tile of a periodic operand, and one period more.
void KernelRun::StagePeriod(size_t operand, int64_t period) {
  if (periodic_count_ == kKernelRunsMax) return;
  const TileProgram::Instruction& read = kernel_.operands[operand].read;
  const int64_t count = program_.views()[static_cast<size_t>(read.view)].count;
  const int width = CarrierBytes(program_.values()[static_cast<size_t>(read.out)].carrier);
  auto* const tile = const_cast<std::byte*>(pointers_[operand]);
  program_.Stage(read, inputs_, 0, static_cast<int>(std::min<int64_t>(count, kTile)), tile, workspace_);
  if (count > kTile)
    program_.Stage(read, inputs_, kTile % period, static_cast<int>(period), tile + kTile * width, workspace_);
  periodic_[periodic_count_++] = {operand, tile, period, width};
}

// Reads the tiles of those operands that machine code does not read itself.
void KernelRun::Stage(int64_t start, int64_t n) {
  if (!in_tiles_) return;
  for (size_t p = 0; p < periodic_count_; ++p) {
    const Periodic& periodic = periodic_[p];
    pointers_[periodic.operand] = periodic.tile + start % periodic.period * periodic.width;
  }
  for (size_t i = 0; i < kernel_.operands.size(); ++i) {
    const TileKernel::Operand& operand = kernel_.operands[i];
    if (operand.kind == OperandKind::kRead && operand.form == ReadForm::kStaged && !IsPeriodic(i)) {
      program_.Stage(operand.read, inputs_, start, static_cast<int>(n), const_cast<std::byte*>(pointers_[i]),
                     workspace_);
    }
  }
}

int64_t KernelRun::RunLength(int64_t n) const {
  for (size_t r = 0; r < run_count_; ++r) n = std::min(n, cursors_[r].left());
  return n;
}

void KernelRun::Run(int64_t start, int64_t n) {
  const int64_t row = kernel_.row;
  if (row != 0 && !kernel_.folds) {
    // Computes whole rows together, after the elements before the first one.
    const int64_t before = std::min(n, (row - start % row) % row), rows = (n - before) / row;
    if (rows > 1) {
      RunPieces(start, before, 0);
      RunRows(start + before, rows, row, row);
      start += before + rows * row;
      n -= before + rows * row;
    }
  }
  RunPieces(start, n, 0);
}

// Computes a part of a row in pieces in which every operand is a plain pointer.
void KernelRun::RunPieces(int64_t start, int64_t n, int64_t row) {
  Seek(start);
  const int64_t begin = start;
  for (const int64_t end = start + n; start < end;) {
    const int64_t length = RunLength(in_tiles_ ? std::min<int64_t>(end - start, kTile) : end - start);
    Point(start, start - begin, row);
    Stage(start, length);
    for (size_t r = 0; r < run_count_; ++r) cursors_[r].Advance(length);
    kernel_.function(pointers_, length, 1);
    start += length;
    cursors_at_ = start;
  }
}

void KernelRun::RunRows(int64_t start, int64_t rows, int64_t n, int64_t stride) {
  // A tile must have whole rows, for the steps between rows are constants.
  const bool together = kernel_.row == stride && (!in_tiles_ || (n == stride && n <= kTile));
  for (int64_t row = 0; row < rows;) {
    const int64_t first = start + row * stride;
    if (!together) {
      RunPieces(first, n, row++);
      continue;
    }
    Seek(first);
    int64_t count = in_tiles_ ? std::min(rows - row, kTile / n) : rows - row;
    for (size_t r = 0; r < run_count_; ++r) count = std::min(count, cursors_[r].RowsLeft(stride));
    Point(first, 0, row);
    Stage(first, count * n);
    kernel_.function(pointers_, n, count);
    row += count;
    // Parts of rows are followed by other rows' parts.
    if (n != stride) continue;
    for (size_t r = 0; r < run_count_; ++r) cursors_[r].AdvanceRows(count, stride);
    cursors_at_ = first + count * stride;
  }
}

}  // namespace hlod::engine
