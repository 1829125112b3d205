// The values that hloctl run exchanges with a program while it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands.h"
#include "common/hlo/module.h"

namespace hlod::cli {

// The infeeds, outfeeds, sends and recvs with the host of a program, in the order of its text, with the files
// and counts that the command line names for them.
class RunChannels {
 public:
  // Returns a usage error when an option names a channel that the program does not have.
  static absl::StatusOr<RunChannels> Make(const hlo::Module& module, const RunOptions& options);

  // Uploads the input values of one run and hands them to the program; then requests its output values.
  absl::Status Open(const Device& device, const Caller& caller);

  // Call it after the run has ended. Returns an error when the run sent fewer values than were requested.
  absl::Status CheckGiven() const;

  // An array of a value that the last run sent.
  struct Given {
    // "outfeed0", "send5.0", "outfeed0.1": channel, number of the value, element of a tuple.
    std::string name;
    Buffer buffer;
  };
  const std::vector<Given>& given() const { return given_; }

 private:
  // The values of one channel, in order: value i has shapes[min(i, last)].
  struct Ends {
    std::optional<int64_t> channel;
    std::vector<std::vector<Shape>> shapes;
    std::vector<std::string> files;  // Inputs: one file per array, value by value.
    int values = 0;                  // Outputs: the number of values to request.
    const std::vector<Shape>& Value(size_t i) const { return shapes[std::min(i, shapes.size() - 1)]; }
  };
  static void Add(std::vector<Ends>& ends, std::optional<int64_t> channel, std::vector<Shape> shapes);

  std::vector<Ends> to_program_, from_program_;
  std::vector<Given> given_;
};

}  // namespace hlod::cli
