// Decides which host programs are worth a trip to a daemon, and makes the trip.
//
// A trip costs about half a millisecond and a copy of arguments and results; the engine then is 10 to 1000
// times as fast as the evaluator. To start the daemon costs tens of milliseconds, once. So a program goes
// there when the evaluator would take longer than the trip, and the daemon is started when the programs so
// far would have gained what the start costs: whatever the program does, it does not wait more than twice as
// long as with the better choice made from the beginning, and one that computes little on the host never
// starts a process.
#include "client/tensor/value/host_daemon.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/runtime/handles/hidden_client.h"
#include "client/tensor/program/program_cache.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/trace/trace_tables.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/hlo/analysis/iterations.h"
#include "common/hlo/analysis/trip_count.h"
#include "hlod/runtime/executable.h"

namespace hlod::lazy {
namespace {

constexpr double kStartUs = 3e4;
constexpr double kTripUs = 500;
constexpr double kTripUsPerByte = 1e6 / 1e9;  // There and back, with a first touch of the pages.
// Larger arguments are uploaded, because a command is small.
constexpr int64_t kInlineBytes = 1 << 10;
constexpr size_t kCachedWords = size_t{1} << 20;

// The evaluator's time in nanoseconds per unit of an instruction's work.
double ElementNs(hlo::Opcode opcode) {
  switch (opcode) {
    case hlo::kExponential:
    case hlo::kLog:
    case hlo::kTanh:
    case hlo::kLogistic:
    case hlo::kSine:
    case hlo::kCosine:
    case hlo::kErf:
    case hlo::kPower:
    case hlo::kAtan2: return 12;
    case hlo::kGather:
    case hlo::kScatter: return 30;
    case hlo::kSort:
    case hlo::kTopK:
    case hlo::kRngBitGenerator: return 10;
    default: return 3;
  }
}
constexpr double kMultiplyAddNs = 1;
constexpr double kFftNs = 8;
constexpr double kCompareNs = 60;  // A comparator or a reducer that is called per element.
constexpr double kLoopNs = 1e8;    // A loop of unknown length.
// The time for an instruction besides that for its elements. It decides for loops over a few numbers.
constexpr double kInstructionNs = 300;

double Elements(const Shape& shape) {
  if (shape.IsTuple()) {
    double sum = 0;
    for (const Shape& element : shape.tuple) sum += Elements(element);
    return sum;
  }
  return static_cast<double>(hlo::ElementCount(shape).value_or(0));
}

double DotNs(const hlo::Instruction& dot) {
  double depth = 1;
  for (const int64_t d : dot.attributes<hlo::DotAttributes>().lhs_contracting) {
    depth *= static_cast<double>(dot.operand(0).shape().dims[d]);
  }
  return Elements(dot.shape()) * depth * kMultiplyAddNs;
}

double ConvolutionNs(const hlo::Instruction& conv) {
  const auto& attributes = conv.attributes<hlo::ConvolutionAttributes>();
  const Shape& kernel = conv.operand(1).shape();
  const auto features = static_cast<double>(kernel.dims[attributes.kernel_output_feature]);
  return features == 0 ? 0 : Elements(conv.shape()) * Elements(kernel) / features * kMultiplyAddNs;
}

double WindowNs(const hlo::Instruction& instruction) {
  double places = 1;
  for (const hlo::WindowDimension& d : instruction.attributes<hlo::WindowAttributes>().window) {
    places *= static_cast<double>(d.size);
  }
  return Elements(instruction.shape()) * places * kMultiplyAddNs;
}

// Adds up the evaluator's time. A computation is estimated once, however many instructions call it: functions
// that call one another twice in a row of 30 are 30 computations and 2^30 calls.
class Estimate {
 public:
  double Ns(const hlo::Computation& computation) {
    double ns = 0;
    for (hlo::NodeId node = 0; node < computation.size(); ++node)
      ns += kInstructionNs + InstructionNs(computation[node]);
    return ns;
  }

 private:
  double InstructionNs(const hlo::Instruction& instruction) {
    double elements = Elements(instruction.shape());
    switch (instruction.opcode()) {
      case hlo::kParameter:
      case hlo::kConstant:
      case hlo::kTuple:
      case hlo::kGetTupleElement:
      case hlo::kReshape:
      case hlo::kCustomCall: return 0;
      case hlo::kDot: return DotNs(instruction);
      case hlo::kConvolution: return ConvolutionNs(instruction);
      case hlo::kReduceWindow: return WindowNs(instruction);
      case hlo::kFft: return elements * kFftNs * 16;
      case hlo::kSort: return elements * 16 * kCompareNs;
      case hlo::kWhile: return hlo::TripCountOf(callees_, instruction) ? CalledNs(instruction) : kLoopNs;
      case hlo::kScan:
      case hlo::kCall:
      case hlo::kConditional: return CalledNs(instruction);
      case hlo::kReduce:
      case hlo::kScatter:
      case hlo::kTopK:
        for (const hlo::NodeId operand : instruction.operands()) {
          elements += Elements(instruction.computation()[operand].shape());
        }
        return elements * ElementNs(instruction.opcode());
      default: return elements * ElementNs(instruction.opcode());
    }
  }

  // Returns the time of what a loop, a call or a branch runs. Each case of a conditional counts.
  double CalledNs(const hlo::Instruction& instruction) {
    double ns = 0;
    for (size_t i = 0; i < instruction.called().size(); ++i) {
      const double times = hlo::TimesOf(callees_, instruction, i);
      if (times > 0) ns += times * CalleeNs(instruction.called()[i]);
    }
    return ns;
  }

  double CalleeNs(hlo::ComputationId id) {
    const auto known = known_.find(id);
    if (known != known_.end()) return known->second;
    return known_[id] = Ns(callees_.computation(id));
  }

  const Module& callees_ = TraceTables::Get().callees();
  absl::flat_hash_map<hlo::ComputationId, double> known_;
};

// The connection, and its programs. Never destroyed: the daemon ends with the process.
class HostDaemon {
 public:
  static HostDaemon& Get() {
    static auto* const daemon = new HostDaemon;
    return *daemon;
  }

  // Returns true when a program should run on the daemon, which is started if it is time.
  bool Takes(double gain_us) {
    if (gain_us <= 0 || !why_not_.empty()) return false;
    if (client_.has_value()) return true;
    missed_us_ += gain_us;
    if (missed_us_ < kStartUs) return false;
    ConnectOptions options;
    options.name = "host tensors";
    options.daemon_flags = {"--device-memory", "1024GiB"};
    absl::StatusOr<Client> client = runtime::ConnectHidden(options);
    if (client.ok()) client_.emplace(*std::move(client));
    else why_not_ = FromAbsl(client.status().message());
    return client_.has_value();
  }

  absl::StatusOr<std::vector<std::shared_ptr<const Literal>>> Run(
      const Trace& graph, const Canonical& program, absl::Span<const Literal* const> arguments) {
    ASSIGN_OR_RETURN(const Executable executable, ExecutableFor(graph, program));
    std::vector<Argument> sent;
    for (const Literal* const literal : arguments) {
      if (static_cast<int64_t>(literal->bytes().size()) <= kInlineBytes) {
        sent.emplace_back(*literal);
      } else {
        ASSIGN_OR_RETURN(Buffer buffer, client_->device(0).Upload(*literal));
        sent.emplace_back(std::move(buffer));
      }
    }
    ExecuteOptions options;
    options.device = 0;
    ASSIGN_OR_RETURN(const std::vector<Buffer> results, executable.Execute(sent, options));
    std::vector<std::shared_ptr<const Literal>> values;
    for (const Buffer& result : results) {
      ASSIGN_OR_RETURN(Literal literal, result.ToLiteral());
      values.push_back(std::make_shared<const Literal>(std::move(literal)));
    }
    ++programs_run_;
    return values;
  }

  // Ends the use of a daemon that has ended, or that this process may not use, because it was forked.
  void CheckAlive() {
    if (const absl::Status status = client_->status(); !status.ok()) {
      why_not_ = FromAbsl(status.message());
      client_.reset();
    }
  }

  const std::string& why_not() const { return why_not_; }
  int64_t programs_run() const { return programs_run_; }

 private:
  absl::StatusOr<Executable> ExecutableFor(const Trace& graph, const Canonical& program) {
    const absl::Span<const uint32_t> words = program.computation->words();
    if (const auto* known = programs_.Find(words, program.outputs)) return (*known)->executable;
    auto compiled = std::make_shared<Compiled>();
    ASSIGN_OR_RETURN(compiled->executable, client_->Compile(*MakeModule("host", graph, program, {})));
    return programs_.Add(words, program.outputs, std::move(compiled))->executable;
  }

  std::optional<Client> client_;
  CanonicalPrograms programs_{kCachedWords};
  int64_t programs_run_ = 0;
  double missed_us_ = 0;  // The time that earlier programs would have gained.
  std::string why_not_;   // The reason why no daemon can be used; empty if none is known.
};

}  // namespace

double EvaluatorUs(const hlo::Computation& program) { return Estimate().Ns(program) / 1e3; }

std::optional<std::vector<std::shared_ptr<const Literal>>> ComputeOnDaemon(
    const Trace& graph, const Canonical& program, absl::Span<const Literal* const> arguments) {
  double bytes = 0;
  for (const Literal* const literal : arguments) bytes += static_cast<double>(literal->bytes().size());
  for (const hlo::NodeId output : program.outputs) {
    bytes += static_cast<double>(hlo::ByteSize((*program.computation)[output].shape()).value_or(0));
  }
  HostDaemon& daemon = HostDaemon::Get();
  if (!daemon.Takes(EvaluatorUs(*program.computation) - kTripUs - bytes * kTripUsPerByte))
    return std::nullopt;
  absl::StatusOr<std::vector<std::shared_ptr<const Literal>>> values = daemon.Run(graph, program, arguments);
  if (values.ok()) return *std::move(values);
  // The evaluator, which has other limits, computes the values or says why it cannot.
  daemon.CheckAlive();
  return std::nullopt;
}

int64_t HostDaemonPrograms() { return HostDaemon::Get().programs_run(); }

std::string WhyNoHostDaemon() { return HostDaemon::Get().why_not(); }

}  // namespace hlod::lazy
