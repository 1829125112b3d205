// Resolves the module's input_output_alias and its donors to numbers of leaves.
#include "common/hlo/analysis/aliases.h"

namespace hlod::hlo {

std::vector<int> ResolveAliases(const Module& module, const FlatSignature& signature) {
  std::vector<int> aliases(signature.results.size(), -1);
  std::vector<bool> taken(signature.arguments.size(), false);
  const auto share = [&](int result, int argument) {
    if (result < 0 || argument < 0 || taken[argument] || aliases[result] >= 0) return false;
    if (ByteSize(signature.results[result].shape) != ByteSize(signature.arguments[argument].shape))
      return false;
    aliases[result] = argument;
    taken[argument] = true;
    return true;
  };
  for (const InputOutputAlias& alias : module.config.input_output_alias) {
    share(signature.FindResult(alias.output_index),
          signature.FindArgument(alias.parameter_number, alias.parameter_index));
  }
  for (const BufferDonor& donor : module.config.buffer_donors) {
    const int argument = signature.FindArgument(donor.parameter_number, donor.parameter_index);
    if (argument < 0 || taken[argument]) continue;
    for (size_t r = 0; r < signature.results.size(); ++r) {
      if (signature.results[r].shape == signature.arguments[argument].shape &&
          share(static_cast<int>(r), argument))
        break;
    }
  }
  return aliases;
}

}  // namespace hlod::hlo
