// A client program for tests that kill it or check how it ends: crash_client ADDRESS MODE. It prints a line
// when it has reached the point that the mode names (kModes). ADDRESS "private" starts a private daemon.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "hlod/hlod.h"
#include "hlod/runtime/admin.h"
#include "hlod/testing.h"
#include "tests/integration/support/forever.h"

namespace hlod {
namespace {

// One step of about 10^13 operations.
constexpr char kLongStep[] = R"(HloModule long

ENTRY main {
  x = f32[] parameter(0)
  a = f32[16384,16384] broadcast(x), dimensions={}
  ROOT d = f32[16384,16384] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

constexpr int64_t kElements = 4'000'000;

void Say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

[[noreturn]] void WaitToBeKilled() {
  for (;;) pause();
}

Literal Value() { return Literal(Shape::Array(hlo::kF32, {kElements})); }

// Returns a buffer of 16 MB after the daemon has received it.
Buffer Held(const Client& client) {
  const Buffer held = client.device(0).Upload(Value()).value();
  if (!held.ready().Await().ok()) std::exit(1);
  return held;
}

int Idle(const Client& client) {
  const Buffer held = Held(client);
  Say("ready " + client.daemon());
  WaitToBeKilled();
}

// Starts a program that inherits this one's sockets and goes on when this one is killed.
int Spawn(const Client& client) {
  const Buffer held = Held(client);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(entry.path().filename().c_str());
    struct stat file = {};
    if (fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode)) fcntl(fd, F_SETFD, 0);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  char name[] = "sleep", seconds[] = "60";
  char* const words[] = {name, seconds, nullptr};
  pid_t child = -1;
  if (posix_spawnp(&child, name, &actions, nullptr, words, environ) != 0) return 1;
  posix_spawn_file_actions_destroy(&actions);
  Say(absl::StrFormat("ready %s sleep %d", client.daemon(), child));
  WaitToBeKilled();
}

int Leave(const Client& client) {
  const Buffer held = Held(client);
  Say("ready");
  return 0;
}

int Upload(const Client& client) {
  const Buffer held = Held(client);
  for (int i = 0;; ++i) {
    const Buffer next = client.device(0).Upload(Value()).value();
    if (i == 2) Say("ready");
  }
}

int Execute(const Client& client) {
  const Buffer held = Held(client);
  const Executable forever = client.CompileText(kForever).value();
  const Execution execution = forever.Start(std::vector<Argument>{Literal::Scalar<int32_t>(0)}).value();
  execution.done.Await(absl::Milliseconds(100)).IgnoreError();
  Say("ready");
  WaitToBeKilled();
}

int LongStep(const Client& client) {
  const Executable step = client.CompileText(kLongStep).value();
  const Execution execution = step.Start(std::vector<Argument>{Literal::Scalar<float>(1)}).value();
  execution.done.Await(absl::Milliseconds(500)).IgnoreError();
  Say("ready " + client.daemon());
  WaitToBeKilled();
}

// The objects of a session that a program may hold when it forks.
struct Objects {
  Client client;
  Buffer buffer, placeholder;
  Executable executable;
  StagedUpload staged;
  Future<Literal> value;  // A value that a thread of the parent awaits.
  Execution execution;
  Admin admin;
};

// Runs in the forked child: every call must fail there within the alarm's time. Returns the number of calls
// that did not.
int CallEverything(Objects& o) {
  const Literal one = Literal::Scalar<int32_t>(1);
  const std::vector<std::pair<const char*, std::function<absl::Status()>>> calls = {
      {"Client::Connect", [&] { return Client::Connect(o.client.address()).status(); }},
      {"Admin::Connect", [&] { return Admin::Connect({.address = o.client.address()}).status(); }},
      {"testing::Daemon::Start", [&] { return testing::Daemon::Start().status(); }},
      {"Admin::Stats", [&] { return o.admin.Stats().status(); }},
      {"Client::status", [&] { return o.client.status(); }},
      {"Client::Compile", [&] { return o.client.CompileText(kForever).status(); }},
      {"Client::StepMark", [&] { return o.client.StepMark(1); }},
      {"Client::Sync", [&] { return o.client.Sync(); }},
      {"Client::Ping", [&] { return o.client.Ping().status(); }},
      {"Client::Stats", [&] { return o.client.Stats().status(); }},
      {"Client::Close", [&] { return o.client.Close(); }},
      {"Device::Upload", [&] { return o.client.device(0).Upload(Value()).status(); }},
      {"Device::Upload inline", [&] { return o.client.device(0).Upload(one).status(); }},
      {"Device::Placeholder", [&] { return o.client.device(0).Placeholder(one.shape()).status(); }},
      {"Device::Stage", [&] { return o.client.device(0).Stage(Value().shape()).status(); }},
      {"StagedUpload::Commit", [&] { return o.staged.Commit().status(); }},
      {"Buffer::state", [&] { return o.buffer.state(); }},
      {"Buffer::ready", [&] { return o.buffer.ready().Await(); }},
      {"Buffer::ToLiteral", [&] { return o.buffer.ToLiteral().status(); }},
      {"Buffer::ToLiteralAsync", [&] { return o.buffer.ToLiteralAsync().Await().status(); }},
      {"Buffer::Fill", [&] { return o.placeholder.Fill(one); }},
      {"Buffer::Delete", [&] { return o.buffer.Delete(); }},
      {"Executable::Execute", [&] { return o.executable.Execute({one}).status(); }},
      {"Executable::Describe", [&] { return o.executable.Describe().status(); }},
      {"Executable::ready", [&] { return o.executable.ready().Await(); }},
      {"Execution::done", [&] { return o.execution.done.Await(); }},
      {"a Future of before the fork", [&] { return o.value.Await().status(); }},
  };
  int wrong = 0;
  for (const auto& [name, call] : calls) {
    const absl::Status status = call();
    if (KindOf(status) == ErrorKind::kLostSession && status.code() == absl::StatusCode::kFailedPrecondition)
      continue;
    ++wrong;
    Say(std::string(name) + ": " + status.ToString());
  }
  const auto expect = [&](const char* name, bool holds) {
    if (holds) return;
    ++wrong;
    Say(std::string(name) + " is wrong");
  };
  expect("Buffer::origin", o.buffer.origin() == Origin{});
  expect("Buffer::ToString", o.buffer.ToString().find("f32[4000000]") == 0);
  expect("Buffer::is_placeholder", !o.placeholder.is_placeholder());
  expect("Client::has_shared_memory", !o.client.has_shared_memory());
  expect("Future::Ready", o.value.Ready() && o.execution.done.Ready());
  o.execution.Cancel();
  return wrong;
}

bool in_forked_child = false;

// Forks while another thread holds the locks of the session and of a buffer, and a third awaits a value.
// Prints "ready" when the child behaved as client.h says and the parent's session goes on.
int Fork(const Client& client) {
  const Buffer x = Held(client);
  const Executable forever = client.CompileText(kForever).value();
  Execution execution = forever.Start(std::vector<Argument>{Literal::Scalar<int32_t>(0)}).value();
  std::optional<Objects> objects(Objects{client, client.device(0).Upload(Value()).value(),
                                         client.device(0).Placeholder(Shape::Scalar(hlo::kS32)).value(),
                                         forever,
                                         client.device(0).Stage(Shape::Array(hlo::kF32, {100'000})).value(),
                                         execution.results[0].ToLiteralAsync(), execution,
                                         Admin::Connect({.address = client.address()}).value()});
  if (!objects->staged.shared()) return 1;
  const Future<Literal> value = objects->value;
  std::thread awaiter([&] { value.Await().IgnoreError(); });
  absl::SleepFor(absl::Milliseconds(50));  // tidy: nothing tells that it waits.
  absl::Notification held, forked;
  std::thread holder([&] {
    absl::MutexLock buffer_lock(&objects->buffer.internal_state()->mu);
    client.internal_session()
        ->Transact({},
                   [&](runtime::Session::Sender&) {
                     held.Notify();
                     forked.WaitForNotification();
                   })
        .IgnoreError();
  });
  held.WaitForNotification();

  const pid_t child = fork();
  if (child == 0) {
    in_forked_child = true;
    alarm(30);  // Ends the child if a call hangs.
    const int wrong = CallEverything(*objects);
    objects.reset();
    std::exit(wrong == 0 ? 0 : 1);  // Exits like a program's end, with the destructors of statics.
  }
  int status = -1;
  waitpid(child, &status, 0);
  forked.Notify();
  holder.join();
  if (status != 0) {
    Say(absl::StrFormat("The child ended with status %d.", status));
    return 1;
  }
  execution.Cancel();
  awaiter.join();
  if (x.ToLiteral().value() != Value()) return 1;
  if (!objects->staged.Commit().value().ready().Await().ok()) return 1;
  Say("ready");
  return 0;
}

// A mode: its name, and what it does after connecting.
struct Mode {
  const char* name;
  int (*run)(const Client&);
  bool shared_memory = true;
};
constexpr Mode kModes[] = {
    {"idle", Idle},                    // Holds 16 MB, until it is killed.
    {"spawn", Spawn},                  // Holds 16 MB like idle, and passes its sockets to another program.
    {"leave", Leave},                  // Holds 16 MB and ends without closing its session.
    {"upload", Upload},                // Uploads without end: at any moment, one is unfinished.
    {"upload_stream", Upload, false},  // Like upload, on a bulk stream.
    {"execute", Execute},              // Holds 16 MB and runs a program that does not end.
    {"long_step", LongStep},           // Runs one step that takes long.
    {"fork", Fork},                    // Uses the client in a forked child.
};

int Main(const char* address, const char* name) {
  // It must not outlive a test that crashes.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ConnectOptions options;
  if (std::strcmp(address, "private") == 0) {
    setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
    unsetenv("HLOD_ADDRESS");
  } else {
    options.address = address;
  }
  if (std::strcmp(name, "fork_first") == 0) {  // Connects only in the child, as a program may.
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      const Client client = Client::Connect(options).value();
      std::exit(client.Sync().ok() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    Say(status == 0 ? "ready" : "The child could not connect.");
    return status == 0 ? 0 : 1;
  }
  for (const Mode& mode : kModes) {
    if (std::strcmp(name, mode.name) != 0) continue;
    options.shared_memory = mode.shared_memory;
    return mode.run(Client::Connect(options).value());
  }
  return 2;
}

}  // namespace

bool InForkedChild() { return in_forked_child; }

}  // namespace hlod

// Called by LeakSanitizer. Objects of the parent's threads cannot be freed in a forked child.
extern "C" int __lsan_is_turned_off() { return hlod::InForkedChild() ? 1 : 0; }

int main(int argc, char** argv) { return argc == 3 ? hlod::Main(argv[1], argv[2]) : 2; }
