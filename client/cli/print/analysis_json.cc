// Converts estimates to JSON.
#include "client/cli/print/analysis_json.h"

namespace hlod::cli {

Json ToJson(const analysis::Bracket& bracket) { return {{"low", bracket.low}, {"high", bracket.high}}; }

Json ToJson(const std::vector<analysis::Finding>& findings) {
  Json list = Json::array();
  for (const analysis::Finding& finding : findings) {
    list.push_back({{"metric", finding.metric},
                    {"value", finding.value},
                    {"limit", finding.limit},
                    {"over", finding.over},
                    {"text", ToString(finding)}});
  }
  return list;
}

Json ToJson(const analysis::Target& target) {
  return {{"chip", target.chip.name}, {"count", target.count}, {"usable_bytes", target.chip.usable_bytes}};
}

}  // namespace hlod::cli
