// Makes the filter by libseccomp, which knows the numbers of each architecture.
#include "server/confinement/system_calls.h"

#include <errno.h>
#include <seccomp.h>

#include <cstring>
#include <memory>
#include <string>

#include "common/base/errors/status.h"

namespace hlod {
namespace {

// LeakSanitizer stops the threads of its own process by ptrace.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kTracesItself = true;
#else
constexpr bool kTracesItself = false;
#endif

constexpr int kForbidden[] = {
    // Start programs.
    SCMP_SYS(execve), SCMP_SYS(execveat),
    // Look into other processes, and change them.
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    // Change the machine.
    SCMP_SYS(acct), SCMP_SYS(adjtimex), SCMP_SYS(clock_adjtime), SCMP_SYS(clock_settime),
    SCMP_SYS(delete_module), SCMP_SYS(finit_module), SCMP_SYS(init_module), SCMP_SYS(ioperm), SCMP_SYS(iopl),
    SCMP_SYS(kexec_file_load), SCMP_SYS(kexec_load), SCMP_SYS(quotactl), SCMP_SYS(quotactl_fd),
    SCMP_SYS(reboot), SCMP_SYS(setdomainname), SCMP_SYS(sethostname), SCMP_SYS(settimeofday),
    SCMP_SYS(swapoff), SCMP_SYS(swapon), SCMP_SYS(syslog), SCMP_SYS(vhangup),
    // Change which files the process sees.
    SCMP_SYS(chroot), SCMP_SYS(fsconfig), SCMP_SYS(fsmount), SCMP_SYS(fsopen), SCMP_SYS(fspick),
    SCMP_SYS(mount), SCMP_SYS(mount_setattr), SCMP_SYS(move_mount), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(open_tree), SCMP_SYS(pivot_root), SCMP_SYS(setns), SCMP_SYS(umount2), SCMP_SYS(unshare),
    // Change who the process is.
    SCMP_SYS(capset), SCMP_SYS(setfsgid), SCMP_SYS(setfsuid), SCMP_SYS(setgid), SCMP_SYS(setgroups),
    SCMP_SYS(setregid), SCMP_SYS(setresgid), SCMP_SYS(setresuid), SCMP_SYS(setreuid), SCMP_SYS(setuid),
    // Lead into parts of the kernel that the daemon does not use.
    SCMP_SYS(add_key), SCMP_SYS(bpf), SCMP_SYS(fanotify_init), SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register), SCMP_SYS(io_uring_setup), SCMP_SYS(keyctl), SCMP_SYS(modify_ldt),
    SCMP_SYS(perf_event_open), SCMP_SYS(personality), SCMP_SYS(request_key), SCMP_SYS(userfaultfd)};

// Returns an error of libseccomp, which is a negative errno.
absl::Status Failed(int result) {
  return FailedPrecondition("The kernel does not take a filter of system calls: %s.", std::strerror(-result));
}

}  // namespace

absl::StatusOr<SystemCalls> ParseSystemCalls(std::string_view text) {
  if (text == "all") return SystemCalls::kAll;
  if (text == "restricted") return SystemCalls::kRestricted;
  return InvalidArgument("\"%s\" is not one of all, restricted", text);
}

absl::Status ForbidSystemCalls() {
  struct Release {
    void operator()(void* filter) const { seccomp_release(filter); }
  };
  const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_ALLOW));
  if (filter == nullptr) return Failed(-ENOMEM);
  // Without this, older kernels switch off a speculation of the processor for a filtered process, which
  // slows down all of its code. They do so against attacks from within a process, where the daemon has no
  // borders.
  if (const int result = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_SSB, 1); result < 0)
    return Failed(result);
  for (const int call : kForbidden) {
    if (const int result = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0); result < 0)
      return Failed(result);
  }
  if (!kTracesItself) {
    const int result = seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ptrace), 0);
    if (result < 0) return Failed(result);
  }
  if (const int result = seccomp_load(filter.get()); result < 0) return Failed(result);
  return absl::OkStatus();
}

}  // namespace hlod
