// The count of teams, the threads that wait to join one, and the two functions that libgomp's callers get
// instead of its own: pthread_create, which provides them, and GOMP_parallel, which sets their modes.
#include "server/engine/run/team.h"

#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

namespace hlod::engine {
namespace {

using PthreadCreate = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

// Returns the system's pthread_create, or a sanitizer's.
PthreadCreate NextPthreadCreate() {
  static const auto next = reinterpret_cast<PthreadCreate>(dlsym(RTLD_NEXT, "pthread_create"));
  return next;
}

// A thread's start function and its argument.
struct Job {
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
};

// A thread that runs jobs of libgomp one after another. All fields are guarded by Spares::mu_.
struct Spare {
  Job job;
  bool dismissed = false;  // True when the thread must end; it is not counted any more.
  std::condition_variable wake;
  pthread_t thread{};
  Spare* next = nullptr;  // Links the idle threads.
};

// The threads that are kept for teams. Never destroyed, because the threads end only with the process.
class Spares {
 public:
  static Spares& Get() {
    static Spares& spares = *new Spares;
    return spares;
  }

  // Makes `more` threads available until Return. Returns false, without a change, if the system refuses one.
  bool Reserve(int more) {
    const std::lock_guard<std::mutex> lock(mu_);
    const auto now = std::chrono::steady_clock::now();
    if (now < retry_) return false;
    reserved_ += more;
    while (count_ < reserved_) {
      if (Spare* const spare = Create({})) {
        spare->next = std::exchange(idle_, spare);
        continue;
      }
      reserved_ -= more;
      DismissExcess();
      retry_ = now + kRetry;
      return false;
    }
    return true;
  }
  void Return(int threads) {
    const std::lock_guard<std::mutex> lock(mu_);
    reserved_ -= threads;
    DismissExcess();
  }

  // Replaces pthread_create. Waits if there is no thread at all, which happens briefly when a team narrows
  // and widens, or when a loop runs without a team, because an error would end the process.
  int Run(pthread_t* thread, const Job& job) {
    std::unique_lock<std::mutex> lock(mu_);
    for (;;) {
      if (Spare* const spare = idle_) {
        idle_ = spare->next;
        spare->job = job;
        *thread = spare->thread;
        spare->wake.notify_one();
        return 0;
      }
      if (const Spare* const spare = Create(job)) {
        *thread = spare->thread;
        return 0;
      }
      changed_.wait_for(lock, std::chrono::milliseconds(10));
    }
  }

 private:
  static constexpr std::chrono::milliseconds kRetry{200};  // The pause after the system has refused a thread.

  // Returns null when the system refuses the thread. The new thread waits for mu_.
  Spare* Create(const Job& job) {
    auto* const spare = new (std::nothrow) Spare;
    if (spare == nullptr) return nullptr;
    spare->job = job;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const int error = NextPthreadCreate()(&spare->thread, &attributes, &Spares::Main, spare);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
      delete spare;
      return nullptr;
    }
    ++count_;
    return spare;
  }

  void DismissExcess() {
    while (idle_ != nullptr && count_ > reserved_) {
      Spare* const spare = std::exchange(idle_, idle_->next);
      spare->dismissed = true;
      --count_;
      spare->wake.notify_one();
    }
  }

  // libgomp also ends threads by pthread_exit; then only the destructors run.
  static void* Main(void* argument) {
    auto* const own = static_cast<Spare*>(argument);
    struct End {
      Spare* spare;
      ~End() {
        Spares& spares = Get();
        const std::lock_guard<std::mutex> lock(spares.mu_);
        if (!spare->dismissed) --spares.count_;
        delete spare;
        spares.changed_.notify_all();
      }
    } end{own};
    for (Job job; Get().Await(*own, job);) {
      job.start(job.argument);
      Get().Park(*own);
    }
    return nullptr;
  }
  bool Await(Spare& own, Job& job) {
    std::unique_lock<std::mutex> lock(mu_);
    own.wake.wait(lock, [&own] { return own.dismissed || own.job.start != nullptr; });
    job = std::exchange(own.job, Job{});
    return job.start != nullptr;
  }
  void Park(Spare& own) {
    const std::lock_guard<std::mutex> lock(mu_);
    own.next = std::exchange(idle_, &own);
    DismissExcess();
    changed_.notify_all();
  }

  std::mutex mu_;
  std::condition_variable changed_;
  int reserved_ = 0, count_ = 0;
  Spare* idle_ = nullptr;
  std::chrono::steady_clock::time_point retry_;
};

// -----------------------------------------------------------------------------------------------------------
// the threads that have a team

std::mutex teams_mutex;
int teams = 0;  // Guarded by teams_mutex.

// A thread's team. It lives as long as the thread.
struct Team {
  int threads = 1;
  bool counted = false;  // True when it is counted in `teams`.
  bool reader = false;
  bool library = false;  // True for RunWithTeam's thread.

  bool Grow(int to) {
    if (!counted && !library) {
      const std::lock_guard<std::mutex> lock(teams_mutex);
      if (teams >= (reader ? kReadersTeamsMax : kTeamsMax)) return false;
      ++teams;
      counted = true;
    }
    if (Spares::Get().Reserve(to - threads)) {
      threads = to;
      return true;
    }
    if (threads == 1) Uncount();
    return false;
  }
  void Uncount() {
    if (!std::exchange(counted, false)) return;
    const std::lock_guard<std::mutex> lock(teams_mutex);
    --teams;
  }
  ~Team() {
    if (threads > 1) Spares::Get().Return(threads - 1);
    Uncount();
  }
};
thread_local Team team;

// The thread of RunWithTeam. Never destroyed.
class LibraryThread {
 public:
  static LibraryThread& Get() {
    static LibraryThread& thread = *new LibraryThread;
    return thread;
  }
  // Returns false if the thread does not exist and the system refuses it.
  bool Run(absl::FunctionRef<void()> job) {
    const std::lock_guard<std::mutex> turn(turn_);
    if (!started_ && !Start()) return false;
    std::unique_lock<std::mutex> lock(mu_);
    job_ = &job;
    changed_.notify_all();
    changed_.wait(lock, [this] { return job_ == nullptr; });
    return true;
  }

 private:
  bool Start() {
    pthread_t thread;
    started_ = NextPthreadCreate()(&thread, nullptr, &LibraryThread::Main, this) == 0;
    if (!started_) return false;
    pthread_detach(thread);
    pthread_setname_np(thread, "library");
    return true;
  }
  static void* Main(void* self) {
    team.library = true;
    static_cast<LibraryThread*>(self)->Serve();
    return nullptr;
  }
  void Serve() {
    std::unique_lock<std::mutex> lock(mu_);
    for (;;) {
      changed_.wait(lock, [this] { return job_ != nullptr; });
      (*job_)();
      job_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex turn_;
  bool started_ = false;  // Guarded by turn_.
  std::mutex mu_;
  std::condition_variable changed_;
  absl::FunctionRef<void()>* job_ = nullptr;  // Guarded by mu_.
};

// Returns the base of the shared object that contains an address, or null.
const void* ObjectOf(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

bool IsInOpenMp(const void* address) {
  static const void* const library = ObjectOf(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return library != nullptr && ObjectOf(address) == library;
}

// -----------------------------------------------------------------------------------------------------------
// the floating-point modes of a team

#if defined(__x86_64__)
// The modes without the flags of exceptions that have occurred.
uint32_t FloatingPointModes() { return __builtin_ia32_stmxcsr() & ~0x3fu; }
void SetFloatingPointModes(uint32_t modes) { __builtin_ia32_ldmxcsr(modes); }
#else
uint32_t FloatingPointModes() { return 0; }
void SetFloatingPointModes(uint32_t) {}
#endif

// A parallel loop, and the modes of the thread that began it.
struct Loop {
  void (*body)(void*);
  void* data;
  uint32_t modes;
};
void RunInModes(void* argument) {
  const Loop& loop = *static_cast<const Loop*>(argument);
  const uint32_t before = FloatingPointModes();
  if (before != loop.modes) SetFloatingPointModes(loop.modes);
  loop.body(loop.data);
  if (before != loop.modes) SetFloatingPointModes(before);
}

using GompParallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
GompParallel NextGompParallel() {
  static const auto next = reinterpret_cast<GompParallel>(dlsym(RTLD_NEXT, "GOMP_parallel"));
  return next;
}

}  // namespace

int TeamOfThisThread(int threads) { return team.threads >= threads || team.Grow(threads) ? threads : 1; }

void RunWithTeam(int threads, absl::FunctionRef<void()> job) {
  const auto run = [&] {
    TeamOfThisThread(threads);  // If it gets no team, the loops wait for threads.
    job();
  };
  if (!LibraryThread::Get().Run(run)) job();
}

int TeamSize(int threads) {
  // Read before a library's loops change it for this thread.
  static const int standard = omp_get_max_threads();
  return threads > 0 ? threads : standard;
}

int PrepareTeams(int threads) {
  if (threads == 1) return 1;
  bool prepared = false;
  LibraryThread::Get().Run([&] { prepared = TeamOfThisThread(threads) == threads; });
  return prepared ? threads : 1;
}

ScopedReader::ScopedReader() : before_(std::exchange(team.reader, true)) {}
ScopedReader::~ScopedReader() { team.reader = before_; }

}  // namespace hlod::engine

// Replaces the system's function of this name, so that libgomp's threads come from the spare ones.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  using namespace hlod::engine;
  if (IsInOpenMp(__builtin_return_address(0))) return Spares::Get().Run(thread, {start, argument});
  return NextPthreadCreate()(thread, attributes, start, argument);
}

// Replaces libgomp's function that runs every `omp parallel`, those of libraries, too: a team's threads have
// the modes of their own last loop otherwise. To set them by a loop before would wake the team twice for
// nothing.
extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  using namespace hlod::engine;
  Loop loop{body, data, FloatingPointModes()};
  NextGompParallel()(&RunInModes, &loop, threads, flags);
}
