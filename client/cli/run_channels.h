// What hloctl run gives a program while it runs, and takes from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands.h"
#include "common/hlo/module.h"

namespace hlod::cli {

// The infeeds, outfeeds, sends and recvs with the host of a program, in the order of its text, and what the
// command line says of them.
class RunChannels {
 public:
  // A usage error when an option names a channel that the program does not have.
  static absl::StatusOr<RunChannels> Make(const hlo::Module& module, const RunOptions& options);

  // Uploads the values of one run to the device and gives them; then asks for those that the run is to give.
  absl::Status Open(const Device& device, const Caller& caller);

  // After the run has ended: an error when it gave fewer values than were asked for.
  absl::Status CheckGiven() const;

  // An array of a value that the last run gave.
  struct Given {
    std::string name;  // "outfeed0", "send5.0": channel, number, and of a tuple the element.
    Buffer buffer;
  };
  const std::vector<Given>& given() const { return given_; }

 private:
  // The values of one channel, in order: value i has shapes[min(i, last)].
  struct Ends {
    std::optional<int64_t> channel;
    std::vector<std::vector<Shape>> shapes;
    std::vector<std::string> files;  // To the program: of the values' arrays, one after the other.
    int values = 0;                  // From the program.
    const std::vector<Shape>& Value(size_t i) const { return shapes[std::min(i, shapes.size() - 1)]; }
  };
  static void Add(std::vector<Ends>& ends, std::optional<int64_t> channel, std::vector<Shape> shapes);

  std::vector<Ends> to_program_, from_program_;
  std::vector<Given> given_;
};

}  // namespace hlod::cli
