/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sandbox of the exporter: user, capabilities, no_new_privs and seccomp filter. */
#include "serve/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/sockios.h>
#include <pwd.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "host/file.h"
#include "serve/history_file.h"
#include "serve/log.h"
#include "pods/runtime_files.h"

#define FIX "start as root or with CAP_SETPCAP, or accept the risk with --no-sandbox"

#ifndef CAP_BPF
#define CAP_BPF 39
#endif

/* Only /etc/passwd is searched, because a static program has no name service switch. */
int sandbox_user(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct err *err)
{
	FILE *file = fopen("/etc/passwd", "re");
	struct passwd *entry;
	int rc = -ENOENT;

	while (file && rc && (entry = fgetpwent(file))) {
		if (strcmp(entry->pw_name, name))
			continue;
		*ret_uid = entry->pw_uid;
		*ret_gid = entry->pw_gid;
		rc = 0;
	}
	if (file)
		fclose(file);
	if (rc && !strcmp(name, "nobody")) {
		*ret_uid = *ret_gid = 65534;
		rc = 0;
	}
	if (rc)
		return err_set(err, rc, "user %s is not in /etc/passwd; set --user", name);
	if (!*ret_uid)
		return err_set(err, -EINVAL, "--user %s has uid 0; use an unprivileged user", name);
	return 0;
}

static int become(const char *user, bool keep_bpf, struct err *err)
{
	uid_t uid = 0;
	gid_t gid = 0;
	int rc;

	if (geteuid() && getuid())
		return 0;
	rc = sandbox_user(user, &uid, &gid, err);
	if (rc)
		return rc;
	/* setresuid() would clear CAP_BPF. drop_caps() drops all other capabilities. */
	if (keep_bpf && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return err_unsupported(err, -errno, FIX, "cannot keep CAP_BPF: %s", strerror(errno));
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return err_unsupported(err, -errno, FIX, "cannot become user %s: %s", user,
				       strerror(errno));
	return 0;
}

/*
 * Drops the capability bounding set. Without CAP_SETPCAP this fails, but no_new_privs prevents
 * execve() from granting capabilities.
 */
static void drop_bounding(void)
{
	for (cap_value_t cap = 0; cap_get_bound(cap) >= 0; cap++)
		if (cap_drop_bound(cap))
			return;
}

/* Drops all capabilities except @keep (-1: none), and sets no_new_privs. */
static int drop_caps(cap_value_t keep, struct err *err)
{
	cap_t want = cap_init();
	cap_t now;
	int rc = 0;

	if (!want)
		return err_set(err, -ENOMEM, "out of memory");
	if (keep >= 0 && (cap_set_flag(want, CAP_PERMITTED, 1, &keep, CAP_SET) ||
			  cap_set_flag(want, CAP_EFFECTIVE, 1, &keep, CAP_SET)))
		rc = err_set(err, -errno, "cannot keep capability %d: %s", keep, strerror(errno));
	cap_reset_ambient();
	if (!rc && cap_set_proc(want))
		rc = err_unsupported(err, -errno, FIX, "cannot drop capabilities: %s",
				     strerror(errno));
	now = cap_get_proc();
	if (!rc && (!now || cap_compare(want, now)))
		rc = err_unsupported(err, -EPERM, FIX,
				     "some capabilities are still set after dropping all");
	if (!rc && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		rc = err_unsupported(err, -errno, FIX, "cannot set no_new_privs: %s",
				     strerror(errno));
	cap_free(now);
	cap_free(want);
	return rc;
}

int sandbox_drop(const char *user, bool keep_bpf, struct err *err)
{
	int rc;

	drop_bounding();
	rc = become(user, keep_bpf, err) ?: drop_caps(keep_bpf ? CAP_BPF : -1, err);
	/* uid 0 may write most files even without capabilities, so the change of user must work. */
	if (!rc && (!getuid() || !geteuid()))
		rc = err_unsupported(err, -EPERM, FIX, "still root after becoming %s", user);
	return rc;
}

/* System calls are listed by name, because some do not exist on every architecture. */
static const char *const allowed[] = {
	/* system calls for descriptors */
	"read",
	"readv",
	"pread64",
	"write",
	"writev",
	"close",
	"lseek",
	"fstat",
	"newfstatat",
	"statx",
	"dup",
	/* getdents64 reads the names of pods in directories that are created after the start */
	"getdents64",
	"inotify_add_watch",
	/* system calls for sockets */
	"accept4",
	"sendto",
	"sendmsg",
	"recvfrom",
	"recvmsg",
	"shutdown",
	"setsockopt",
	/* system calls for waiting and time */
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"epoll_pwait2",
	"poll",
	"ppoll",
	"timerfd_settime",
	"clock_gettime",
	"clock_nanosleep",
	"nanosleep",
	"gettimeofday",
	"time",
	"restart_syscall",
	/* system calls for memory and threads */
	"munmap",
	"mremap",
	"madvise",
	"brk",
	"futex",
	"sched_yield",
	"exit",
	"exit_group",
	"set_robust_list",
	"rseq",
	"membarrier",
	/* system calls for signals */
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"sigaltstack",
	/* wait4 is needed to reap the helper that opens files of container runtimes */
	"wait4",
	/* system calls for process ids and resource usage */
	"getpid",
	"gettid",
	"getuid",
	"geteuid",
	"getrusage",
	"getrandom",
	"sched_getaffinity",
	"sched_getcpu",
	"getcpu",
};

static int allow(scmp_filter_ctx filter, const char *name, unsigned int nr,
		 const struct scmp_arg_cmp *args)
{
	int number = seccomp_syscall_resolve_name(name), rc;

	if (number == __NR_SCMP_ERROR)
		return 0;
	rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, nr, args);
	/* A system call that does not exist on the architecture needs no seccomp rule. */
	return rc == -EDOM ? 0 : rc;
}

/* Adds seccomp rules that allow non-executable memory and opening files for reading. */
static int allow_reading(scmp_filter_ctx filter, int none)
{
	struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	struct scmp_arg_cmp reading =
		SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY);

	return allow(filter, "mmap", 1, &no_exec) ?: allow(filter, "openat", 1, &reading);
}

/*
 * Adds seccomp rules that allow writing below @dir. openat() with an absolute path ignores @dir,
 * but Landlock (sandbox_confine()) refuses to write outside @dir.
 */
static int allow_history(scmp_filter_ctx filter, int dir)
{
	struct scmp_arg_cmp append[] = {
		SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)dir, 0),
		SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW,
			HISTORY_OPEN & ~O_CLOEXEC)};
	struct scmp_arg_cmp files[] = {SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)dir, 0),
				       SCMP_A2(SCMP_CMP_EQ, 0, 0)};

	return allow(filter, "openat", 2, append) ?: allow(filter, "unlinkat", 2, files) ?:
	       allow(filter, "ftruncate", 0, NULL);
}

static int allow_with_args(scmp_filter_ctx filter, int history_dir)
{
	static const unsigned int bpf[] = {
		BPF_MAP_LOOKUP_ELEM,
		BPF_MAP_UPDATE_ELEM,
		BPF_MAP_DELETE_ELEM,
		BPF_MAP_GET_NEXT_KEY,
		BPF_MAP_LOOKUP_AND_DELETE_ELEM,
		BPF_MAP_LOOKUP_BATCH,
		BPF_MAP_LOOKUP_AND_DELETE_BATCH,
		BPF_MAP_UPDATE_BATCH,
		BPF_MAP_DELETE_BATCH,
		BPF_OBJ_GET_INFO_BY_FD,
		/* starts the loaded task iterator, which reads run_delay of tasks */
		BPF_ITER_CREATE,
	};
	const struct {
		const char *name;
		struct scmp_arg_cmp arg;
	} calls[] = {
		/* abort() signals this process. Signals to other processes are refused. */
		{"tgkill", SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0)},
		{"ioctl", SCMP_A1(SCMP_CMP_EQ, SIOCOUTQ, 0)},
		/* F_SETOWN and F_SETSIG could send signals to other processes of the user. */
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0)},
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_GETFL, 0)},
		/* F_SETFD is needed by fdopendir(), which sets FD_CLOEXEC. */
		{"fcntl", SCMP_A1(SCMP_CMP_EQ, F_SETFD, 0)},
	};
	struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	int rc = allow_reading(filter, -1) ?: allow(filter, "mprotect", 1, &no_exec);

	for (size_t i = 0; !rc && i < ARRAY_SIZE(calls); i++)
		rc = allow(filter, calls[i].name, 1, &calls[i].arg);
	for (size_t i = 0; !rc && i < ARRAY_SIZE(bpf); i++) {
		struct scmp_arg_cmp command = SCMP_A0(SCMP_CMP_EQ, bpf[i], 0);

		rc = allow(filter, "bpf", 1, &command);
	}
	return rc || history_dir < 0 ? rc : allow_history(filter, history_dir);
}

/* System calls that the helper for files of container runtimes may use. */
static const char *const reader_allowed[] = {
	"read",	     "pread64",	      "close",	   "lseek",	 "fstat",	  "newfstatat",
	"getdents64", "inotify_add_watch", "sendmsg",	   "poll",	 "ppoll",	  "clock_gettime",
	"munmap",    "brk",	      "exit_group", "rt_sigreturn", "restart_syscall",
};

static int filter_load(const char *const *calls, size_t nr, int (*more)(scmp_filter_ctx, int dir),
		       int dir, struct err *err)
{
	/* A refused system call returns EPERM, which the caller reports. */
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int rc;

	if (!filter)
		return err_set(err, -ENOMEM, "cannot create the seccomp filter: out of memory");
	rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	for (size_t i = 0; !rc && i < nr; i++)
		rc = allow(filter, calls[i], 0, NULL);
	if (!rc)
		rc = more(filter, dir);
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	if (rc)
		return err_unsupported(err, rc,
				       "use a kernel with CONFIG_SECCOMP_FILTER, or accept "
				       "the risk with --no-sandbox",
				       "cannot install the seccomp filter: %s", strerror(-rc));
	return 0;
}

int sandbox_filter(int history_dir, struct err *err)
{
	return filter_load(allowed, ARRAY_SIZE(allowed), allow_with_args, history_dir, err);
}

int sandbox_confine(int dir, struct err *err)
{
	/*
	 * Constants of linux/landlock.h, which older systems lack. The system call numbers are
	 * equal on all architectures.
	 */
	enum { CREATE_RULESET = 444, ADD_RULE, RESTRICT_SELF, PATH_BENEATH = 1 };
	const uint64_t write_file = 1 << 1, remove_file = 1 << 5, make_file = 1 << 8;
	/* Landlock restricts writing, removing and creating files. Reading stays unrestricted. */
	const uint64_t handled = write_file | 0x1ff0;
	const struct {
		uint64_t allowed;
		int32_t dir;
	} __attribute__((packed)) rule = {write_file | remove_file | make_file, dir};
	int rules = (int)syscall(CREATE_RULESET, &handled, sizeof(handled), 0), rc = 0;

	/* A seccomp filter of the service manager or of the container may return EPERM. */
	if (rules < 0 && (errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM)) {
		log_line("no Landlock here (%s): only the permissions of the user restrict where the "
			 "history can be written", strerror(errno));
		return 0;
	}
	if (rules < 0 || syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0) ||
	    syscall(RESTRICT_SELF, rules, 0))
		rc = err_unsupported(err, -errno, FIX, "cannot restrict writing by Landlock: %s",
				     strerror(errno));
	if (rules >= 0)
		close(rules);
	return rc;
}

/*
 * Sandbox of the helper that opens files of container runtimes. The helper stays root, because root
 * owns the files, but drops all capabilities. A helper that is not root keeps CAP_DAC_READ_SEARCH.
 * The seccomp filter allows reading files, listing and watching directories, and sending messages.
 */
static int sandbox_reader(struct err *err)
{
	cap_t now = cap_get_proc();
	cap_flag_value_t has = CAP_CLEAR;
	int rc;

	if (now)
		cap_get_flag(now, CAP_DAC_READ_SEARCH, CAP_PERMITTED, &has);
	cap_free(now);
	drop_bounding();
	rc = drop_caps(geteuid() && has == CAP_SET ? CAP_DAC_READ_SEARCH : -1, err);
	return rc ?: filter_load(reader_allowed, ARRAY_SIZE(reader_allowed), allow_reading, -1, err);
}

static void send_fd(void *arg, unsigned int place, const char *id, int fd)
{
	int rc = runtime_channel_send(*(const int *)arg, place, id, fd);

	if (fd >= 0)
		close(fd);
	/*
	 * The helper exits if the exporter closed the channel. After other errors, such as too many
	 * descriptors in flight, only the name of container @id stays unknown.
	 */
	if (rc == -EPIPE || rc == -ECONNRESET)
		_exit(0);
}

static _Noreturn void run_helper(int channel)
{
	struct runtime_files *files;
	struct err err = {0};
	bool all = false;

	prctl(PR_SET_NAME, "subtick-names", 0, 0, 0);
	/* The helper exits when the socket to the exporter is closed, not on signals. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* Close descriptors that were inherited from the exporter, such as BPF maps. */
	sys_close_others(channel, -1);
	if (chdir("/") || runtime_files_open(NULL, &files))
		_exit(1);
	if (sandbox_reader(&err)) {
		log_line("names from container runtimes are unavailable: %s", err.what);
		_exit(1);
	}
	for (;;) {
		runtime_files_step(files, send_fd, &channel);
		if (!all && runtime_channel_send(channel, RUNTIME_NR_PLACES, NULL, -1))
			_exit(0);
		all = true;
		if (!runtime_files_wait(files, channel))
			_exit(0);
	}
}

int runtime_fd_helper_start(int *ret_channel, struct err *err)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(err, -errno, "cannot create a socket: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		close(pair[0]);
		run_helper(pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return err_set(err, -errno, "cannot create a process: %s", strerror(errno));
	}
	*ret_channel = pair[0];
	return 0;
}
