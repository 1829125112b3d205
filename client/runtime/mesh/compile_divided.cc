// Asks the partitioner for the program of one device, and compiles that.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/partition/partition.h"
#include "client/runtime/mesh/divided_program.h"
#include "client/runtime/preflight/abstract_session.h"
#include "common/base/errors/status.h"
#include "common/hlo/flat_signature.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/passes/expand/expand_philox.h"
#include "common/passes/passes.h"

namespace hlod::runtime {
namespace {

// The arrays that a program takes, or gives: in errors "Argument" or "Result".
struct Side {
  const char* name;
  const std::string& program;
};

// Returns the shapes of the arrays of one side. UNIMPLEMENTED for arrays without a fixed size.
absl::StatusOr<std::vector<Shape>> ShapesOf(const std::vector<hlo::FlatSignature::Leaf>& leaves,
                                            size_t expected, const Side& side) {
  std::vector<Shape> shapes;
  for (const hlo::FlatSignature::Leaf& leaf : leaves) {
    if (!leaf.shape.IsArray() || leaf.shape.HasDynamicDimension()) {
      return Unimplemented(
          "%s %d of %s is %s, which is not divided among devices: only arrays of fixed size are.", side.name,
          shapes.size(), side.program, hlo::ToStringNoLayout(leaf.shape));
    }
    shapes.push_back(leaf.shape);
  }
  if (shapes.size() != expected) {
    return Unimplemented("%s has shardings of %d arrays for its %d %ss.", side.program, expected,
                         shapes.size(), absl::AsciiStrToLower(side.name));
  }
  return shapes;
}

absl::StatusOr<std::vector<Division>> DivisionsOf(const std::vector<Shape>& shapes,
                                                  const std::vector<std::string>& shardings, const Mesh& mesh,
                                                  const Side& side) {
  std::vector<Division> divisions;
  for (size_t i = 0; i < shapes.size(); ++i) {
    absl::StatusOr<Division> division = DivisionOf(shapes[i], shardings[i], mesh.devices());
    if (!division.ok()) {
      return absl::Status(division.status().code(),
                          absl::StrCat(side.name, " ", i, " of ", side.program, ", ",
                                       hlo::ToStringNoLayout(shapes[i]), ": ", division.status().message()));
    }
    divisions.push_back(*std::move(division));
  }
  return divisions;
}

absl::Status CheckMesh(const Mesh& mesh, const Session& session, const std::string& program) {
  RETURN_IF_ERROR(mesh.status());
  const auto count = static_cast<int>(session.daemon().devices.size());
  if (mesh.device_count() > count) {
    return FailedPrecondition("%s is divided among %d devices (%s), but the daemon has %d (hlod --devices).",
                              program, mesh.device_count(), mesh.ToString(), count);
  }
  for (const int device : mesh.devices()) {
    if (device < 0 || device >= count)
      return InvalidArgument("The mesh %s names device %d; the daemon has %d.", mesh.ToString(), device,
                             count);
  }
  return absl::OkStatus();
}

// Returns the mesh that the partitioner used: the one asked for, or the program's own.
Mesh MeshOf(const partition::Partitioned& parts, const Mesh& asked) {
  if (!asked.empty()) return asked;
  std::vector<Mesh::Axis> axes = parts.mesh.axes;
  for (auto& [name, size] : axes) {
    if (name.empty()) name = "devices";  // GSPMD's shardings name no axes.
  }
  const std::vector<int> devices(parts.mesh.devices.begin(), parts.mesh.devices.end());
  return Mesh(std::move(axes), devices);
}

// Compiles a program for a mesh of one device, which runs it as it is.
absl::StatusOr<Executable> CompileForOne(const std::shared_ptr<Session>& session, const Module& whole,
                                         const CompileOptions& options, const Caller& caller) {
  const hlo::FlatSignature signature(whole.entry());
  auto divided = std::make_shared<DividedProgram>(DividedProgram{.mesh = *options.mesh});
  const std::vector<std::string> undivided(std::max(signature.arguments.size(), signature.results.size()));
  const std::string name = whole.name();
  const Side takes{"Argument", name}, gives{"Result", name};
  ASSIGN_OR_RETURN(divided->takes, ShapesOf(signature.arguments, signature.arguments.size(), takes));
  ASSIGN_OR_RETURN(divided->gives, ShapesOf(signature.results, signature.results.size(), gives));
  ASSIGN_OR_RETURN(divided->arguments, DivisionsOf(divided->takes, undivided, *options.mesh, takes));
  ASSIGN_OR_RETURN(divided->results, DivisionsOf(divided->gives, undivided, *options.mesh, gives));
  ASSIGN_OR_RETURN(Executable executable,
                   CompileBytes(session, &whole, hlo::Serialize(whole), options.describe, caller));
  executable.internal_state()->divided = std::move(divided);
  return executable;
}

absl::StatusOr<Executable> DivideAndCompile(const std::shared_ptr<Session>& session, const Module* whole,
                                            std::string program, const CompileOptions& options,
                                            const Caller& caller) {
  const Mesh& asked = *options.mesh;
  RETURN_IF_ERROR(session->status());
  RETURN_IF_ERROR(CheckMesh(asked, *session, whole == nullptr ? "The program" : whole->name()));
  if (whole != nullptr && hlo::IsShare(*whole)) {
    return InvalidArgument(
        "%s is divided already: it is what each of %d devices runs. Compile it without a mesh.",
        whole->name(), whole->config.partition_count);
  }
  if (whole != nullptr && asked.device_count() == 1) return CompileForOne(session, *whole, options, caller);
  const partition::Request request = whole != nullptr ? RequestFor(*session, *whole, options)
                                                      : partition::Request{.program = std::move(program),
                                                                           .mesh = {.axes = asked.axes()},
                                                                           .partitioner = options.partitioner,
                                                                           .annotated = true};
  ASSIGN_OR_RETURN(const partition::Partitioned parts, PartitionAhead::Take(request));
  if (whole == nullptr) whole = parts.annotated.get();
  if (whole == nullptr) return Internal("The partitioner did not return the whole program.");
  const std::string name = parts.module->name();
  RETURN_IF_ERROR(hlo::Verify(*parts.module));
  auto divided = std::make_shared<DividedProgram>(DividedProgram{.mesh = MeshOf(parts, asked)});
  RETURN_IF_ERROR(CheckMesh(divided->mesh, *session, name));
  const hlo::FlatSignature signature(whole->entry());
  const Side takes{"Argument", name}, gives{"Result", name};
  ASSIGN_OR_RETURN(divided->takes, ShapesOf(signature.arguments, parts.parameter_op_shardings.size(), takes));
  ASSIGN_OR_RETURN(divided->gives, ShapesOf(signature.results, parts.result_op_shardings.size(), gives));
  ASSIGN_OR_RETURN(divided->arguments,
                   DivisionsOf(divided->takes, parts.parameter_op_shardings, divided->mesh, takes));
  ASSIGN_OR_RETURN(divided->results,
                   DivisionsOf(divided->gives, parts.result_op_shardings, divided->mesh, gives));
  ASSIGN_OR_RETURN(
      Executable executable,
      CompileBytes(session, parts.module.get(), hlo::Serialize(*parts.module), options.describe, caller));
  if (AbstractSession* const log = session->options().abstract.get()) {
    log->Divided(executable.internal_state()->digest, divided->mesh.ToString(), parts.annotated.get());
  }
  executable.internal_state()->divided = std::move(divided);
  return executable;
}

thread_local PartitionAhead* ahead = nullptr;

bool IsSame(const partition::Request& a, const partition::Request& b) {
  return a.mesh.axes == b.mesh.axes && a.partitioner == b.partitioner && a.annotated == b.annotated &&
         a.program == b.program;
}

}  // namespace

partition::Request RequestFor(const Session& session, const Module& whole, const CompileOptions& options) {
  std::unique_ptr<Module> expanded;
  const auto now = [&]() -> const Module& { return expanded != nullptr ? *expanded : whole; };
  if (passes::HasScans(now())) expanded = passes::ExpandScans(now());  // XLA's importers do not know scans.
  // XLA would draw them whole on each device.
  if (passes::HasPhilox(now())) expanded = passes::ExpandPhilox(now());
  return {.program = hlo::Serialize(now()),
          .mesh = {.axes = options.mesh->axes()},
          .partitioner = options.partitioner,
          .annotated = session.options().abstract != nullptr};  // A preflight reports what is replicated.
}

PartitionAhead::PartitionAhead(partition::Request request)
    : request_(std::move(request)), answer_(partition::Partition(request_)), around_(ahead) {
  ahead = this;
}

PartitionAhead::~PartitionAhead() { ahead = around_; }

bool PartitionAhead::Has(const partition::Request& request) {
  return ahead != nullptr && ahead->answer_.has_value() && IsSame(ahead->request_, request);
}

absl::StatusOr<partition::Partitioned> PartitionAhead::Take(const partition::Request& request) {
  if (!Has(request)) return partition::Partition(request);
  absl::StatusOr<partition::Partitioned> answer = *std::move(ahead->answer_);
  ahead->answer_.reset();
  return answer;
}

absl::StatusOr<Executable> CompileDivided(const std::shared_ptr<Session>& session, const Module* whole,
                                          std::string program, const CompileOptions& options,
                                          const Caller& caller) {
  absl::StatusOr<Executable> executable =
      DivideAndCompile(session, whole, std::move(program), options, caller);
  AbstractSession* const log = session->options().abstract.get();
  if (!executable.ok() && log != nullptr) {  // A preflight without the program has no verdict.
    v1::Error error;
    error.set_text(std::string(executable.status().message()));
    log->Failed(error);
  }
  return executable;
}

}  // namespace hlod::runtime
