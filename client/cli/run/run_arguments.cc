// Reads arguments from files, or makes them up, and uploads them.
#include "client/cli/run/run_arguments.h"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "client/cli/print/table.h"
#include "client/cli/run/random_literal.h"
#include "common/base/errors/status.h"
#include "common/hlo/elements/npy.h"
#include "hlod/runtime/shards.h"

namespace hlod::cli {
namespace {

bool IsPlaceholder(const RunOptions& options, size_t index) {
  return std::ranges::count(options.placeholders, static_cast<int>(index)) > 0;
}

// Returns a usage error when an option does not fit the parameters.
absl::Status CheckParameters(const std::vector<Shape>& shapes, const std::map<size_t, std::string>& files,
                             const RunOptions& options) {
  for (const int index : options.placeholders) {
    if (index < 0 || index >= static_cast<int>(shapes.size())) {
      return UsageError(absl::StrFormat("--placeholder %d is not one of the program's %d parameters.", index,
                                        shapes.size()));
    }
    if (files.contains(static_cast<size_t>(index)))
      return UsageError(absl::StrFormat("Parameter %d has both --arg and --placeholder.", index));
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    const bool given = files.contains(i) || IsPlaceholder(options, i);
    if (shapes[i].IsToken() && given)
      return UsageError(
          absl::StrFormat("Parameter %d is a token: it takes neither --arg nor --placeholder.", i));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> ReadArgument(const std::string& file, const Shape& shape, size_t index) {
  absl::StatusOr<Literal> literal = hlo::ReadNpy(file, shape);
  if (!literal.ok()) return Annotate(literal.status(), absl::StrFormat("reading parameter %d", index));
  return literal;
}

// Puts arguments where a program takes them.
struct Uploader {
  std::function<absl::StatusOr<Buffer>(size_t, const Literal&, const Caller&)> upload;
  std::function<absl::StatusOr<Buffer>(size_t, const Caller&)> placeholder;
};

// Returns the arguments of whole parameters, each from a file, of the random generator, zeros or a
// placeholder. `given` has those that exist already.
absl::StatusOr<std::vector<Argument>> Make(const std::vector<Shape>& shapes,
                                           const std::map<size_t, std::string>& files,
                                           const std::map<size_t, Buffer>& given, const RunOptions& options,
                                           const Uploader& uploader) {
  std::mt19937_64 random(options.random_seed.value_or(0));
  std::vector<Argument> arguments;
  for (size_t i = 0; i < shapes.size(); ++i) {
    absl::StatusOr<Buffer> buffer = FailedPrecondition("no value");
    const std::string made_by = absl::StrFormat("parameter %d of %s", i, options.module);
    const Caller caller{.file = made_by.c_str()};
    if (const auto found = given.find(i); found != given.end()) {
      buffer = found->second;
    } else if (shapes[i].IsToken()) {
      buffer = uploader.upload(i, Literal(shapes[i]), caller);
    } else if (IsPlaceholder(options, i)) {
      buffer = uploader.placeholder(i, caller);
    } else if (const auto file = files.find(i); file != files.end()) {
      ASSIGN_OR_RETURN(const Literal literal, ReadArgument(file->second, shapes[i], i));
      buffer = uploader.upload(i, literal, Caller{.file = file->second.c_str()});
    } else if (options.random_seed.has_value()) {
      ASSIGN_OR_RETURN(const Literal literal, RandomLiteral(shapes[i], random));
      buffer = uploader.upload(i, literal, caller);
    } else {
      ASSIGN_OR_RETURN(const Literal literal, Literal::Make(shapes[i], int64_t{1} << 40));
      buffer = uploader.upload(i, literal, caller);
    }
    RETURN_IF_ERROR(buffer.status());
    arguments.push_back(*std::move(buffer));
  }
  return arguments;
}

}  // namespace

absl::StatusOr<std::map<size_t, std::string>> AssignFiles(const std::vector<std::string>& arguments,
                                                          size_t parameters, size_t participants,
                                                          size_t participant) {
  std::map<size_t, std::string> files, own;
  size_t next = 0;
  for (const std::string& argument : arguments) {
    const std::vector<std::string> sides = absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const std::vector<std::string> places = absl::StrSplit(sides[0], ':');
    uint32_t numbers[2] = {};
    bool numbered = sides.size() == 2 && places.size() <= 2;
    for (size_t i = 0; numbered && i < places.size(); ++i)
      numbered = absl::SimpleAtoi(places[i], &numbers[i]);
    const bool for_one = numbered && places.size() == 2;
    const size_t index = numbered ? numbers[places.size() - 1] : next;
    if (index >= parameters) {
      return UsageError(
          absl::StrFormat("--arg %s is for parameter %d; the program has %d.", argument, index, parameters));
    }
    if (for_one && numbers[0] >= participants) {
      return UsageError(absl::StrFormat("--arg %s is for participant %d; the program has %d.", argument,
                                        numbers[0], participants));
    }
    next = index + 1;
    if (for_one && numbers[0] != participant) continue;
    const auto [found, is_new] = (for_one ? own : files).emplace(index, numbered ? sides[1] : argument);
    if (!is_new) {
      return UsageError(absl::StrFormat("--arg %s is for parameter %d, which has %s already.", argument,
                                        index, found->second));
    }
  }
  for (auto& [index, file] : own) files[index] = std::move(file);
  return files;
}

absl::StatusOr<std::vector<Argument>> MakeArguments(const Device& device, const Executable& executable,
                                                    const RunOptions& options, size_t participant) {
  const std::vector<Shape>& shapes = executable.argument_shapes();
  ASSIGN_OR_RETURN(const auto files,
                   AssignFiles(options.arguments, shapes.size(),
                               static_cast<size_t>(executable.participant_count()), participant));
  RETURN_IF_ERROR(CheckParameters(shapes, files, options));
  const Uploader uploader{
      .upload = [&](size_t, const Literal& value,
                    const Caller& caller) { return device.Upload(value, Cause::kUpload, caller); },
      .placeholder = [&](size_t i, const Caller& caller) { return device.Placeholder(shapes[i], caller); }};
  return Make(shapes, files, {}, options, uploader);
}

absl::StatusOr<std::vector<Argument>> MakeMeshArguments(const Client& client, const Executable& executable,
                                                        const RunOptions& options) {
  const std::vector<Shape>& shapes = executable.argument_shapes();
  const std::vector<std::string> shardings = executable.argument_shardings();
  const Mesh& mesh = *executable.mesh();
  const auto participants = static_cast<size_t>(mesh.device_count());
  std::vector<std::map<size_t, std::string>> files;  // By participant.
  for (size_t m = 0; m < participants; ++m) {
    ASSIGN_OR_RETURN(files.emplace_back(), AssignFiles(options.arguments, shapes.size(), participants, m));
    RETURN_IF_ERROR(CheckParameters(shapes, files.back(), options));
  }
  std::map<size_t, Buffer> given;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto differs = [&](const auto& own) {
      const auto first = files[0].find(i), mine = own.find(i);
      return (first == files[0].end()) != (mine == own.end()) ||
             (mine != own.end() && first->second != mine->second);
    };
    if (std::ranges::none_of(files, differs)) continue;
    ASSIGN_OR_RETURN(const Shape part, ShardShape(shapes[i], mesh, shardings[i]));
    std::vector<Buffer> parts;
    for (size_t m = 0; m < participants; ++m) {
      const auto file = files[m].find(i);
      if (file == files[m].end())
        return UsageError(
            absl::StrFormat("Parameter %d has no part for participant %d: --arg %d:%d=FILE.", i, m, m, i));
      ASSIGN_OR_RETURN(const Literal value, ReadArgument(file->second, part, i));
      ASSIGN_OR_RETURN(parts.emplace_back(),
                       client.device(mesh.devices()[m])
                           .Upload(value, Cause::kUpload, Caller{.file = file->second.c_str()}));
    }
    ASSIGN_OR_RETURN(given[i], JoinShards(std::move(parts), shapes[i], mesh, shardings[i]));
  }
  const Uploader uploader{.upload =
                              [&](size_t i, const Literal& value, const Caller& caller) {
                                return UploadShards(client, value, mesh, shardings[i], Cause::kUpload,
                                                    caller);
                              },
                          .placeholder =
                              [&](size_t i, const Caller& caller) {
                                return PlaceholderShards(client, shapes[i], mesh, shardings[i], caller);
                              }};
  return Make(shapes, files[0], given, options, uploader);
}

}  // namespace hlod::cli
