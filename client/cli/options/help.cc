// Texts of --help and of `hloctl help`.
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/cli/options/command_line.h"
#include "common/base/text/strings.h"

namespace hlod::cli {

const char kFooter[] = R"(
hloctl connects to the daemon at --address, else at $HLOD_ADDRESS, else to the user's running daemon; `run`,
`profile`, `replay`, `ping` and `doctor` start a private one when there is none. `check`, `check-module`, `convert`,
`partition` and `graphs --from-torch-xla` do not need a daemon. `partition` and `check --mesh` run XLA's partitioner in
Python: $HLOD_PYTHON, $VIRTUAL_ENV or python3 needs jaxlib.

Exit codes:
  0  Done.
  1  The daemon refused, or a file or the output could not be read or written, or a module is not well-formed.
     For `check -- PROGRAM` also: the program could not be run, ended with another exit code than 0, never
     connected, or never ended a step.
  2  The command line is wrong.
  3  There is no daemon, or it ended.
  4  The module or program that `check` checks exceeds its budget, does not fit its target, or is so close to the
     target's limit that the limit is within the error bar of the estimate; nothing that `check --search` tried fits.
     `doctor` found something wrong.
  5  The program that `check` ran read a value that does not exist, before the end of its first step or of step
     --steps, and nothing failed before that.
  6  The module or program that `check` checks is for several chips and could not be partitioned: it may fit
     or not.

`hloctl help json` lists the keys of --json.

.npy files: bf16 and f8 types travel as raw bits (uint16, uint8), sub-byte integers as int8 and uint8.)";

namespace {

struct JsonObject {
  const char* name;
  const char* keys;
};
constexpr JsonObject kJsonObjects[] = {
    {"amount", "bytes calls"},
    {"origin", "file line function"},
    {"session part",
#define HLOD_SESSION_AMOUNT(name, direction, meaning) #name " (amount) "
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) #name " "
#define HLOD_SESSION_MEMORY(name, unit, meaning) #name " "
#include "common/base/stats.inc"
     "rows (transfers)"},
    {"run",
     "module daemon device mesh argument_shardings result_shardings (empty unless it is divided) "
     "compile{digest cached persistent compile_us argument_bytes output_bytes alias_bytes temporary_bytes "
     "steps reference_steps reference_opcodes slow_steps} run{count min_us median_us max_us} "
     "results[index shape placeholder (file | value)] stats (a session "
     "part)"},
    {"profile",
     "module daemon device persistent runs run_us (the mean of their middle half) machine{threads "
     "cpu_level f32_flops copies[bytes bytes_per_second]} steps[index kind text type lines runs us bytes flops share roofline] "
     "(share: part of run_us; roofline: part of the machine's speed; bytes and flops: of one of its runs; "
     "lines: none if persistent) other_steps other_us between_us (the time between steps) "
     "kinds{assembled interpreted withdrawn library movement reference copy} (us)"},
    {"replay",
     "command_log client complete commands failed not_read recorded_us replayed_us programs (the "
     "sum of compiles and cache hits) stats (a session part)"},
    {"convert", "module computations instructions parameters result (shapes) file bytes"},
    {"partition",
     "devices mesh[name size] partitioner jaxlib cached has_shardings parameters results (shardings) file "
     "arrays[name op_name source shape sharding bytes part_bytes] (with --explain)"},
    {"check-module", "module computations instructions parameters result (shapes)"},
    {"check",
     "module instructions cost cost_once (flops transcendentals bytes; of all iterations of a "
     "loop, or of one) costliest[name op_name source shape flops] unknown_loops unknown_calls "
     "fused unfused (total_bytes argument_bytes result_bytes alias_bytes temporary_bytes at "
     "largest[kind name op_name source last_use shape bytes]) peak_bytes{low high} "
     "error_bar{part programs judge} "
     "traffic_bytes{low high} fit findings[metric value limit over text] passed text, with "
     "--target: target{chip count usable_bytes} step_seconds{low high}, on several chips: "
     "likely_bytes{low high} undivided_because, when partitioned: mesh[name size] partitioned_by notes "
     "collectives[kind name op_name source axes group_size groups bytes times] replicated[kind name op_name "
     "source shape sharding axis saved_bytes] network{shape domains bytes us step_seconds{low high} "
     "rows[kind axes group_size times bytes us source]}"},
    {"check --search",
     "module target{chip count usable_bytes} search[mesh[name size] shardings (peak_bytes network_bytes "
     "network_us step_seconds{low high} fit | error)]"},
    {"check -- ..., check --preflight",
     "program sessions devices steps step_program executes programs[name line instructions flops recompiled "
     "runs] recompiles upload_bytes upload_calls unsent_bytes download_bytes download_calls transfers[cause "
     "line bytes calls] graph_breaks[cause line bytes calls] refused[cause line bytes calls] stand_ins "
     "stopped_at stopped_why flops traffic_bytes{low high} peak_bytes{low high} peak_parts{weights "
     "gradients \"optimizer state\" inputs activations other} peak_program peak_line peak_step "
     "largest[part name line shape bytes] arrays simulated_peak_bytes fit findings passed text target "
     "step_seconds likely_bytes network_bytes network_us divided[name runs (what --mesh adds)] (as of a "
     "module); the program's own output goes to stderr"},
    {"graphs --from-torch-xla",
     "graphs[hash name made_by cause{text break advice} at{file line function} nodes inputs "
     "outputs compiles executions sizes] lazy_graphs dynamo_graphs places[at cause graphs compiles "
     "executions] recompiles[at name from to difference[added line]] unexpected_executions compile "
     "execute (count seconds) cache_hits cache_misses syncs host_to_device device_to_host (calls "
     "bytes seconds) fallbacks[operator calls] advice problems; null: no dump says it"},
    {"report", "run totals memory transfers graphs compiles programs chip (see client/report/page/report.h)"},
    {"devices",
     "devices[ordinal kind "
#define HLOD_DEVICE_FIGURE(name, unit, type, metric, meaning) #name " "
#include "common/base/stats.inc"
     "cpu_features]"},
    {"buffers", "buffers[session handle device shape bytes state origin] total"},
    {"executables",
     "executables[digest name instructions steps fused_steps library_steps movement_steps "
     "reference_steps reference_opcodes slow_steps temporary_bytes compile_us executes execute_us "
     "network_us sessions]"},
    {"sessions", "sessions[session client pid state age_us stats (a session part)]"},
    {"transfers", "transfers[cause direction bytes calls origin step session device] total"},
    {"transfers --by",
     "by transfers[key host_to_device device_to_host device_to_device (amounts)] host_to_device "
     "device_to_host device_to_device (amounts of all rows)"},
    {"compiles",
     "compiles[session program digest origin step reason why outcome at_us compile_us instructions "
     "program_bytes code_bytes argument_bytes output_bytes alias_bytes temporary_bytes count "
     "others slow_steps] total"},
    {"graphs",
     "by graphs[key program executes queue run {min_us max_us sum_us} peak_bytes network_us "
     "network_bytes] executes execute_us network_us"},
    {"graphs RUN",
     "graphs[program name cause origin nodes inputs outputs compiles daemon_hits cache_hits executes compile "
     "queue execute {total_us mean_us min_us max_us} host_to_device_bytes device_to_host_bytes "
     "number_bytes] breaks[stage cause operation origin value times host_to_device_bytes "
     "device_to_host_bytes held_bytes host_to_device_calls device_to_host_calls fusion_lost_bytes "
     "times_us saves_graphs saves_executes saves_us remedy] recompiles[reason why program nearest "
     "origin step compile_us remedy] slow[path what line program times us remedy] "
     "transfers[cause direction origin bytes calls] steps compiles "
     "daemon_hits cache_hits executes host_to_device device_to_host times wall_us"},
    {"cluster",
     "name join member epoch size peer_silence_us members[rank name address incarnation devices joined state "
     "round_trip_us silent_us] departed[rank name why us_ago] missing problem"},
    {"cluster keys", "authority certificates[path uri]"},
    {"cluster try", "daemons count min_us median_us p99_us max_us"},
    {"top", "one document per frame: stats (as below) devices sessions (as above) programs (as graphs)"},
    {"stats",
     "version epoch pid "
#define HLOD_DAEMON_FIGURE(name, unit, type, metric, meaning) #name " "
#include "common/base/stats.inc"
     "totals (a session part)"},
    {"ping", "daemon address count min_us median_us max_us"},
    {"doctor", "findings[grade what found advice] (grade: good, note or wrong)"},
    {"an error", "error{code kind message handle shape}; also for a wrong command line"},
};

// Appends the words of `keys`, wrapped, with each line from column kIndent on.
void AppendWrapped(std::string& text, std::string_view keys) {
  constexpr size_t kIndent = 15, kWidth = 112;
  size_t column = kIndent;
  for (const absl::string_view word : absl::StrSplit(ToAbsl(keys), ' ')) {
    if (column > kIndent && column + 1 + word.size() > kWidth) {
      absl::StrAppend(&text, "\n", std::string(kIndent, ' '));
      column = kIndent;
    } else if (column > kIndent) {
      text += ' ';
      ++column;
    }
    absl::StrAppend(&text, word);
    column += word.size();
  }
}

}  // namespace

std::string JsonKeys() {
  std::string text = "JSON keys (--json; sizes in bytes, times in microseconds):\n";
  for (const JsonObject& object : kJsonObjects) {
    const std::string name = absl::StrFormat("  %-12s ", object.name);
    absl::StrAppend(&text,
                    name.size() > 15 ? absl::StrCat("  ", object.name, "\n", std::string(15, ' ')) : name);
    AppendWrapped(text, object.keys);
    text += '\n';
  }
  return text +
         R"(A result's `value` is nested lists, one level per dimension, of numbers: of true and false for pred, of
[real, imaginary] for complex types. JSON has no NaN and no infinity: they are "nan", "inf" and "-inf". A result
of more than 1000 elements has no `value`: --output writes results of any size to files.)";
}

}  // namespace hlod::cli
