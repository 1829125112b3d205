// Buffer assignment: random programs of loops, branches and steps run in assigned memory, compared with a run
// in which every value has memory of its own. The steps return garbage when they share memory that they did
// not allow to be shared.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/plan/assemble.h"
#include "server/engine/plan/assignment/buffer_assignment.h"
#include "server/engine/plan/assignment/buffer_assignment_packing.h"
#include "server/engine/plan/lowering/lowering.h"

namespace hlod::engine {
namespace {

using Bytes = std::vector<uint8_t>;

uint8_t Mix(uint32_t a, uint32_t b) { return static_cast<uint8_t>((a * 167 + b * 59 + 13) ^ (b >> 3)); }

// The only kind of step in these tests; `how` says how it uses memory.
class TestStep final : public Step {
 public:
  enum How {
    kElementwise,  // Reads byte j of all inputs, then writes byte j of all outputs: all may be shared.
    kWhole,        // Overwrites the outputs before it reads its inputs, so no memory may be shared.
    // Output 0 is input 0 with one byte changed by the other inputs, which are read late: only input 0 and
    // output 0 may share memory.
    kUpdate,
    kCount,     // Adds one to an s32.
    kLess,      // A pred: the s32 is less than the limit.
    kChoose,    // An s32 in [-1, limit] that depends on the bytes of the input.
    kConstant,  // Has no inputs.
  };
  TestStep(How how, std::vector<int64_t> in, std::vector<int64_t> out, int seed, int limit = 0,
           int64_t scratch = 0)
      : Step(StepKind::kFused, "test " + std::to_string(how) + "." + std::to_string(seed)),
        how_(how),
        in_(std::move(in)),
        out_(std::move(out)),
        seed_(seed),
        limit_(limit),
        scratch_(scratch) {
    set_scratch_bytes(scratch);
    for (size_t o = 0; o < out_.size(); ++o) {
      for (size_t i = 0; i < in_.size(); ++i) {
        if (how_ == kElementwise || how_ == kCount || (how_ == kUpdate && o == 0 && i == 0))
          Share(static_cast<int>(o), static_cast<int>(i));
      }
    }
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const auto in = [&](size_t i) { return reinterpret_cast<const uint8_t*>(inputs[i]); };
    const auto out = [&](size_t o) { return reinterpret_cast<uint8_t*>(outputs[o]); };
    if (scratch_ > 0) std::memset(context.scratch, 0xEE, scratch_);
    switch (how_) {
      case kElementwise:
        for (int64_t j = 0; j < out_[0]; ++j) {
          uint8_t sum = static_cast<uint8_t>(seed_);
          for (size_t i = 0; i < in_.size(); ++i) sum = Mix(sum, in(i)[j]);
          for (size_t o = 0; o < out_.size(); ++o) out(o)[j] = Mix(sum, static_cast<uint32_t>(o));
        }
        break;
      case kWhole:
      case kChoose:
      case kConstant: {
        for (size_t o = 0; o < out_.size(); ++o) std::memset(out(o), 0xDD, out_[o]);
        uint8_t sum = static_cast<uint8_t>(seed_);
        for (size_t i = 0; i < in_.size(); ++i) {
          for (int64_t j = 0; j < in_[i]; ++j) sum = Mix(sum, in(i)[j]);
        }
        if (how_ == kChoose) {
          const int32_t choice = sum % (limit_ + 2) - 1;
          std::memcpy(out(0), &choice, sizeof(choice));
          break;
        }
        for (size_t o = 0; o < out_.size(); ++o) {
          for (int64_t j = 0; j < out_[o]; ++j) out(o)[j] = Mix(sum + o, static_cast<uint32_t>(j));
        }
        break;
      }
      case kUpdate: {
        if (out(0) != in(0)) std::memcpy(out(0), in(0), out_[0]);
        for (size_t i = 1; i < in_.size(); ++i) {
          for (int64_t j = 0; j < in_[i]; ++j) {
            uint8_t& place = out(0)[(i + j) % out_[0]];
            place = Mix(place, in(i)[j]);
          }
        }
        break;
      }
      case kCount:
      case kLess: {
        int32_t value;
        std::memcpy(&value, in(0), sizeof(value));
        if (how_ == kLess) {
          out(0)[0] = value < limit_;
        } else {
          ++value;
          std::memcpy(out(0), &value, sizeof(value));
        }
        break;
      }
    }
    return absl::OkStatus();
  }

 private:
  const How how_;
  const std::vector<int64_t> in_, out_;
  const int seed_, limit_;
  const int64_t scratch_;
};

// Makes a random program of the form that lowering produces.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  FlatProgram Make() {
    const int arguments = 1 + Roll(5), results = 1 + Roll(5);
    std::vector<ValueId> scope;
    for (int a = 0; a < arguments; ++a) {
      const ValueId value = New(kSizes[Roll(3)], kNone);
      program_.values[value].space = Space::kArgument;
      program_.values[value].index = a;
      program_.arguments.push_back(hlo::Shape::Array(hlo::kU8, {program_.values[value].bytes}));
      program_.argument_values.push_back(value);
      scope.push_back(value);
    }
    for (int c = 0; c < 2; ++c) {
      hlo::Literal literal(hlo::Shape::Array(hlo::kU8, {kSizes[c]}));
      for (uint8_t& byte : literal.data<uint8_t>()) byte = static_cast<uint8_t>(Roll(256));
      const ValueId value = New(kSizes[c], kNone);
      program_.values[value].space = Space::kConstant;
      program_.values[value].index = c;
      program_.constants.push_back(std::make_shared<hlo::Literal>(std::move(literal)));
      scope.push_back(value);
    }
    Region(scope, kNone, 0);

    std::vector<ValueId> from, to;
    std::vector<bool> taken(arguments, false);
    for (int r = 0; r < results; ++r) {
      const ValueId value = Pick(scope);
      const int64_t bytes = program_.values[value].bytes;
      int alias = -1;
      for (int a = 0; a < arguments && alias < 0; ++a) {
        if (taken[a] || program_.values[program_.argument_values[a]].bytes != bytes || Roll(3) == 0) continue;
        alias = a;
        taken[a] = true;
      }
      program_.aliases.push_back(alias);
      program_.results.push_back(hlo::Shape::Array(hlo::kU8, {bytes}));
      const ValueId place = New(bytes, kNone);
      program_.values[place].space = alias < 0 ? Space::kResult : Space::kArgument;
      program_.values[place].index = alias < 0 ? r : alias;
      from.push_back(value);
      to.push_back(place);
    }
    Moves(Op::Kind::kReturn, kNone, kNone, from, to);
    return std::move(program_);
  }

 private:
  static constexpr int64_t kSizes[] = {64, 8, 100};

  int Roll(int n) { return static_cast<int>(random_() % n); }
  ValueId New(int64_t bytes, int32_t loop) {
    Value& value = program_.values.emplace_back();
    value.bytes = bytes;
    value.home = loop;
    return static_cast<ValueId>(program_.values.size()) - 1;
  }
  // Picks a value, preferring recent ones, so that chains appear.
  ValueId Pick(const std::vector<ValueId>& scope) {
    const int n = static_cast<int>(scope.size());
    return scope[Roll(2) == 0 ? n - 1 - Roll(std::min(n, 3)) : Roll(n)];
  }
  ValueId PickOfSize(const std::vector<ValueId>& scope, int64_t bytes) {
    for (int tries = 0; tries < 8; ++tries) {
      const ValueId value = Pick(scope);
      if (program_.values[value].bytes == bytes) return value;
    }
    for (size_t i = scope.size(); i-- > 0;) {
      if (program_.values[scope[i]].bytes == bytes) return scope[i];
    }
    return kNone;
  }
  Op& Add(Op::Kind kind, int32_t loop, int32_t control) {
    Op& op = program_.ops.emplace_back();
    op.kind = kind;
    op.loop = loop;
    op.control = control;
    return op;
  }
  void Moves(Op::Kind kind, int32_t loop, int32_t control, const std::vector<ValueId>& from,
             const std::vector<ValueId>& to) {
    Op& op = Add(kind, loop, control);
    op.inputs.assign(from.begin(), from.end());
    op.outputs.assign(to.begin(), to.end());
  }
  std::vector<ValueId> AddStep(TestStep::How how, int32_t loop, std::vector<ValueId> in,
                               std::vector<int64_t> out, int limit = 0) {
    std::vector<int64_t> sizes;
    for (ValueId value : in) sizes.push_back(program_.values[value].bytes);
    std::vector<ValueId> outputs;
    for (int64_t bytes : out) outputs.push_back(New(bytes, loop));
    Op& op = Add(Op::Kind::kStep, loop, kNone);
    op.step = std::make_unique<TestStep>(how, sizes, out, Roll(256), limit, Roll(4) == 0 ? 1 + Roll(200) : 0);
    op.inputs.assign(in.begin(), in.end());
    op.outputs.assign(outputs.begin(), outputs.end());
    return outputs;
  }
  int32_t Now() { return static_cast<int32_t>(program_.ops.size()); }

  // Appends operations and adds their results to the scope.
  void Region(std::vector<ValueId>& scope, int32_t loop, int depth) {
    for (int n = 1 + Roll(6); n > 0; --n) {
      const int what = Roll(depth < 3 ? 8 : 5);
      std::vector<ValueId> made;
      if (what < 2) {
        const ValueId first = Pick(scope);
        const int64_t bytes = program_.values[first].bytes;
        std::vector<ValueId> in = {first};
        for (int i = Roll(3); i > 0; --i) in.push_back(PickOfSize(scope, bytes));
        made = AddStep(TestStep::kElementwise, loop, in, std::vector<int64_t>(1 + Roll(2), bytes));
      } else if (what == 2) {
        made =
            AddStep(TestStep::kWhole, loop, {Pick(scope), Pick(scope)}, {kSizes[Roll(3)], kSizes[Roll(3)]});
      } else if (what < 5) {
        const ValueId target = Pick(scope);
        made = AddStep(TestStep::kUpdate, loop, {target, Pick(scope)}, {program_.values[target].bytes});
      } else if (what < 7) {
        made = AddLoop(scope, loop, depth);
      } else {
        made = AddSwitch(scope, loop, depth);
      }
      // Some results have no users.
      for (ValueId value : made) {
        if (Roll(6) != 0) scope.push_back(value);
      }
    }
  }

  std::vector<ValueId> AddLoop(std::vector<ValueId>& scope, int32_t parent, int depth) {
    const int32_t id = static_cast<int32_t>(program_.loops.size());
    program_.loops.emplace_back().parent = parent;
    std::vector<ValueId> initial = AddStep(TestStep::kConstant, parent, {}, {4});
    // The counter may be any number, so it is reduced to a small one.
    initial = AddStep(TestStep::kChoose, parent, initial, {4}, 2);
    for (int i = 1 + Roll(4); i > 0; --i) initial.push_back(Pick(scope));
    std::vector<ValueId> states;
    for (ValueId value : initial) {
      const ValueId state = New(program_.values[value].bytes, id);
      program_.values[state].role = Value::Role::kState;
      program_.values[state].owner = id;
      states.push_back(state);
    }
    program_.loops[id].begin = Now();
    Moves(Op::Kind::kLoopBegin, parent, id, initial, states);
    std::vector<ValueId> condition = scope;
    condition.insert(condition.end(), states.begin(), states.end());
    if (Roll(3) == 0) Region(condition, id, 3);
    const ValueId predicate = AddStep(TestStep::kLess, id, {states[0]}, {1}, 1 + Roll(3))[0];
    program_.loops[id].test = Now();
    Add(Op::Kind::kLoopTest, id, id).inputs.push_back(predicate);

    std::vector<ValueId> inner = scope;
    inner.insert(inner.end(), states.begin(), states.end());
    const bool count_first = Roll(2) == 0;
    ValueId next = count_first ? AddStep(TestStep::kCount, id, {states[0]}, {4})[0] : kNone;
    Region(inner, id, depth + 1);
    if (!count_first) next = AddStep(TestStep::kCount, id, {states[0]}, {4})[0];
    std::vector<ValueId> results = {next};
    for (size_t i = 1; i < states.size(); ++i) {
      results.push_back(PickOfSize(inner, program_.values[states[i]].bytes));
    }
    program_.loops[id].back = Now();
    Moves(Op::Kind::kLoopBack, id, id, results, states);
    program_.loops[id].exit = Now();
    Add(Op::Kind::kLoopExit, parent, id);
    return {states.begin() + 1, states.end()};
  }

  std::vector<ValueId> AddSwitch(std::vector<ValueId>& scope, int32_t loop, int depth) {
    const int32_t id = static_cast<int32_t>(program_.switches.size());
    program_.switches.emplace_back();
    const int branches = 1 + Roll(3);
    std::vector<ValueId> joins;
    for (int i = 1 + Roll(3); i > 0; --i) {
      // The size is that of a value that is certainly in scope.
      const ValueId join = New(program_.values[Pick(scope)].bytes, loop);
      program_.values[join].role = Value::Role::kJoin;
      program_.values[join].owner = id;
      joins.push_back(join);
    }
    const ValueId selector = AddStep(TestStep::kChoose, loop, {Pick(scope)}, {4}, branches)[0];
    program_.switches[id].begin = Now();
    Add(Op::Kind::kSwitch, loop, id).inputs.push_back(selector);
    for (int b = 0; b < branches; ++b) {
      program_.switches[id].branches.push_back(Now());
      Add(Op::Kind::kBranchBegin, loop, id);
      std::vector<ValueId> inner = scope;
      if (Roll(4) != 0) Region(inner, loop, depth + 1);
      std::vector<ValueId> results;
      for (ValueId join : joins) results.push_back(PickOfSize(inner, program_.values[join].bytes));
      Moves(Op::Kind::kBranchEnd, loop, id, results, joins);
    }
    program_.switches[id].end = Now();
    Add(Op::Kind::kSwitchEnd, loop, id);
    return joins;
  }

  std::mt19937 random_;
  FlatProgram program_;
};

// Runs a program with memory of its own for every value.
std::vector<Bytes> RunPlainly(const FlatProgram& program, const std::vector<Bytes>& arguments) {
  std::vector<Bytes> memory;
  for (const Value& value : program.values) memory.emplace_back(value.bytes, 0xAA);
  for (size_t a = 0; a < arguments.size(); ++a) memory[program.argument_values[a]] = arguments[a];
  for (size_t v = 0; v < program.values.size(); ++v) {
    if (program.values[v].space != Space::kConstant) continue;
    const auto data = program.constants[program.values[v].index]->data<uint8_t>();
    memory[v].assign(data.begin(), data.end());
  }
  RunContext run;
  for (int32_t pc = 0; pc < static_cast<int32_t>(program.ops.size());) {
    const Op& op = program.ops[pc];
    if (op.IsMove()) {
      std::vector<Bytes> read;
      for (ValueId input : op.inputs) read.push_back(memory[input]);
      for (size_t k = 0; k < op.outputs.size(); ++k) memory[op.outputs[k]] = read[k];
    }
    ++pc;
    switch (op.kind) {
      case Op::Kind::kStep: {
        std::vector<const std::byte*> in;
        std::vector<std::byte*> out;
        for (ValueId input : op.inputs) in.push_back(reinterpret_cast<std::byte*>(memory[input].data()));
        for (ValueId output : op.outputs) out.push_back(reinterpret_cast<std::byte*>(memory[output].data()));
        std::vector<std::byte> scratch(op.step->scratch_bytes());
        StepContext context{run, scratch.data(), 1};
        EXPECT_TRUE(op.step->Run(in.data(), out.data(), context).ok());
        break;
      }
      case Op::Kind::kLoopTest:
        if (memory[op.inputs[0]][0] == 0) pc = program.loops[op.control].exit;
        break;
      case Op::Kind::kLoopBack: pc = program.loops[op.control].begin + 1; break;
      case Op::Kind::kSwitch: {
        const Switch& branches = program.switches[op.control];
        int32_t index;
        std::memcpy(&index, memory[op.inputs[0]].data(), sizeof(index));
        if (index < 0 || index >= static_cast<int32_t>(branches.branches.size())) {
          index = static_cast<int32_t>(branches.branches.size()) - 1;
        }
        pc = branches.branches[index];
        break;
      }
      case Op::Kind::kBranchEnd: pc = program.switches[op.control].end; break;
      default: break;
    }
  }
  std::vector<Bytes> results;
  for (ValueId place : program.ops.back().outputs) results.push_back(memory[place]);
  return results;
}

// Runs a program in assigned memory.
std::vector<Bytes> RunAssigned(const FlatProgram& program, const Assignment& assignment,
                               std::vector<Bytes> arguments) {
  const Code code = Assemble(program, assignment);
  std::vector<Bytes> results;
  for (const hlo::Shape& shape : program.results) results.emplace_back(shape.dims[0], 0xBB);
  const std::vector<Bytes> before = arguments;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (Bytes& bytes : arguments) in.push_back(reinterpret_cast<std::byte*>(bytes.data()));
  for (size_t r = 0; r < results.size(); ++r) {
    Bytes& bytes = program.aliases[r] < 0 ? results[r] : arguments[program.aliases[r]];
    out.push_back(reinterpret_cast<std::byte*>(bytes.data()));
  }
  Bytes temporary(code.TableBytes() + assignment.arena_bytes + 64, 0xCC);
  std::byte* aligned =
      reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(temporary.data()) + 63) & ~63ull);
  RunContext run;
  EXPECT_TRUE(Execute(code, in, out, aligned, 1, run).ok());
  std::vector<bool> shared(arguments.size(), false);
  for (size_t r = 0; r < results.size(); ++r) {
    if (program.aliases[r] < 0) continue;
    results[r] = arguments[program.aliases[r]];
    shared[program.aliases[r]] = true;
  }
  for (size_t a = 0; a < arguments.size(); ++a) {
    if (shared[a]) continue;
    EXPECT_EQ(arguments[a], before[a]) << "argument " << a << " was written";
  }
  return results;
}

TEST(Assignment, RandomProgramsComputeWhatTheyDoWithMemoryForEveryValue) {
  int64_t values = 0, copies = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    const FlatProgram program = Generator(seed).Make();
    absl::StatusOr<Assignment> assignment = AssignBuffers(program);
    ASSERT_TRUE(assignment.ok()) << assignment.status();
    for (int turns = 0; turns < 3; ++turns) {
      const absl::Status status = CheckAssignment(program, *assignment, turns, static_cast<int>(seed % 3));
      ASSERT_TRUE(status.ok()) << status;
    }
    std::mt19937 random(seed + 1);
    std::vector<Bytes> arguments;
    for (const hlo::Shape& shape : program.arguments) {
      Bytes& bytes = arguments.emplace_back(shape.dims[0]);
      for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    }
    ASSERT_EQ(RunAssigned(program, *assignment, arguments), RunPlainly(program, arguments));
    values += static_cast<int64_t>(program.values.size());
    copies += static_cast<int64_t>(assignment->copies.size());
  }
  RecordProperty("values", std::to_string(values));
  RecordProperty("copies", std::to_string(copies));
}

// The checker reports temporary buffers that were made to overlap.
TEST(Assignment, TheCheckerFindsOverlaps) {
  int spoiled = 0, found = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const FlatProgram program = Generator(seed).Make();
    Assignment assignment = *AssignBuffers(program);
    std::vector<size_t> temporary;
    for (size_t p = 0; p < assignment.places.size(); ++p) {
      if (assignment.places[p].space == Space::kTemporary && assignment.places[p].offset > 0)
        temporary.push_back(p);
    }
    if (temporary.empty()) continue;
    for (size_t p : temporary) assignment.places[p].offset = 0;
    ++spoiled;
    bool caught = false;
    for (int branch = 0; branch < 3; ++branch)
      caught = caught || !CheckAssignment(program, assignment, 2, branch).ok();
    found += caught;
  }
  EXPECT_GT(spoiled, 100);
  EXPECT_GE(found, spoiled * 9 / 10);
}

// Builds a program by hand.
struct HandProgram {
  ValueId Add(int64_t bytes, Space space, int32_t index, int32_t home) {
    Value& value = program.values.emplace_back();
    value.bytes = bytes;
    value.space = space;
    value.index = index;
    value.home = home;
    return static_cast<ValueId>(program.values.size()) - 1;
  }
  // Adds a state of loop 0.
  ValueId AddState(int64_t bytes) {
    const ValueId state = Add(bytes, Space::kTemporary, kNone, 0);
    program.values.back().role = Value::Role::kState;
    program.values.back().owner = 0;
    return state;
  }
  void AddOp(Op::Kind kind, int32_t loop, int32_t control, std::initializer_list<ValueId> inputs,
             std::initializer_list<ValueId> outputs) {
    Op& op = program.ops.emplace_back();
    op.kind = kind;
    op.loop = loop;
    op.control = control;
    op.inputs = inputs;
    op.outputs = outputs;
  }
  void AddStep(std::unique_ptr<TestStep> step, int32_t loop, std::initializer_list<ValueId> inputs,
               ValueId output) {
    AddOp(Op::Kind::kStep, loop, kNone, inputs, {output});
    program.ops.back().step = std::move(step);
  }
  FlatProgram program;
};

// A scan's stacked output is updated in place, without a copy in the loop or around it.
TEST(Assignment, AScanBodyUpdatesItsStackInPlace) {
  using Sizes = std::vector<int64_t>;
  constexpr int64_t kStack = 1 << 20;
  HandProgram hand;
  FlatProgram& program = hand.program;
  const ValueId argument = hand.Add(4, Space::kArgument, 0, kNone);
  program.argument_values = {argument};
  program.arguments = {hlo::Shape::Array(hlo::kU8, {4})};
  program.results = {hlo::Shape::Array(hlo::kU8, {kStack})};
  program.aliases = {-1};
  program.loops.emplace_back();

  const ValueId zeros = hand.Add(kStack, Space::kTemporary, kNone, kNone);
  hand.AddStep(std::make_unique<TestStep>(TestStep::kConstant, Sizes{}, Sizes{kStack}, 0), kNone, {}, zeros);
  const ValueId counter = hand.AddState(4), stack = hand.AddState(kStack);
  program.loops[0].begin = 1;
  hand.AddOp(Op::Kind::kLoopBegin, kNone, 0, {argument, zeros}, {counter, stack});
  const ValueId predicate = hand.Add(1, Space::kTemporary, kNone, 0);
  hand.AddStep(std::make_unique<TestStep>(TestStep::kLess, Sizes{4}, Sizes{1}, 0, 5), 0, {counter},
               predicate);
  program.loops[0].test = 3;
  hand.AddOp(Op::Kind::kLoopTest, 0, 0, {predicate}, {});
  const ValueId updated = hand.Add(kStack, Space::kTemporary, kNone, 0);
  hand.AddStep(std::make_unique<TestStep>(TestStep::kUpdate, Sizes{kStack, 4}, Sizes{kStack}, 0), 0,
               {stack, counter}, updated);
  const ValueId next = hand.Add(4, Space::kTemporary, kNone, 0);
  hand.AddStep(std::make_unique<TestStep>(TestStep::kCount, Sizes{4}, Sizes{4}, 0), 0, {counter}, next);
  program.loops[0].back = 6;
  hand.AddOp(Op::Kind::kLoopBack, 0, 0, {next, updated}, {counter, stack});
  program.loops[0].exit = 7;
  hand.AddOp(Op::Kind::kLoopExit, kNone, 0, {}, {});
  const ValueId result = hand.Add(kStack, Space::kResult, 0, kNone);
  hand.AddOp(Op::Kind::kReturn, kNone, kNone, {stack}, {result});

  const Assignment assignment = *AssignBuffers(program);
  ASSERT_TRUE(CheckAssignment(program, assignment, 2, 0).ok());
  EXPECT_EQ(assignment.buffer[zeros], assignment.buffer[result]);
  EXPECT_EQ(assignment.buffer[updated], assignment.buffer[result]);
  EXPECT_LE(assignment.arena_bytes, 3 * kBufferAlignment);
  // The only copy is the counter's start, which is an argument.
  EXPECT_EQ(assignment.copies.size(), 1u);
}

TEST(Packing, ItemsThatMeetInTimeDoNotMeetInMemory) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    std::vector<PackItem> items(seed < 40 ? 1 + random() % 60 : 1500);
    for (PackItem& item : items) {
      item.start = static_cast<int32_t>(random() % 200);
      item.end = item.start + static_cast<int32_t>(random() % 30);
      item.bytes = 1 + static_cast<int64_t>(random() % 5000);
    }
    const std::optional<int64_t> size = Pack(items, 64);
    ASSERT_TRUE(size.has_value());
    int64_t sum = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      sum += items[i].bytes;
      ASSERT_EQ(items[i].offset % 64, 0);
      ASSERT_LE(items[i].offset + items[i].bytes, *size);
      for (size_t j = 0; j < i; ++j) {
        const bool in_time = items[i].start <= items[j].end && items[j].start <= items[i].end;
        const bool in_memory = items[i].offset < items[j].offset + items[j].bytes &&
                               items[j].offset < items[i].offset + items[i].bytes;
        ASSERT_FALSE(in_time && in_memory) << seed;
      }
    }
    EXPECT_LE(*size, sum);
  }
}

TEST(Packing, ASizeThatOverflowsIsNoSize) {
  std::vector<PackItem> items(3);
  for (PackItem& item : items) {
    item.end = 1;
    item.bytes = int64_t{1} << 62;
  }
  EXPECT_FALSE(Pack(items, 64).has_value());
}

TEST(Assignment, StopsWhenItHasTo) {
  FlatProgram program = Generator(1).Make();
  passes::PassWatch watch([] { return absl::CancelledError("here"); });
  EXPECT_EQ(AssignBuffers(program, &watch).status(), absl::CancelledError("here"));
}

}  // namespace
}  // namespace hlod::engine
