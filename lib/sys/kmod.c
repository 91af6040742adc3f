/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads modules with modprobe, unloads them with the system call. */
#include "sys/kmod.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/file.h"

bool kmod_loaded(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return sys_exists(NULL, path);
}

/* Only absolute paths: as root we must not depend on the caller's PATH. */
static void run_modprobe(const char *name, int words)
{
	static const char *const paths[] = {"/usr/sbin/modprobe", "/sbin/modprobe",
					    "/usr/bin/modprobe", "/bin/modprobe"};
	static char locale[] = "LC_ALL=C";
	char *const env[] = {locale, NULL};

	dup2(words, STDOUT_FILENO);
	dup2(words, STDERR_FILENO);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		execle(paths[i], "modprobe", name, (char *)NULL, env);
	_exit(127);
}

/* The last line of modprobe's output is the reason. */
static void last_line(int fd, char *line, size_t size)
{
	char text[1024];
	ssize_t got, len = 0;
	char *end, *start;

	line[0] = '\0';
	while ((got = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += got;
	text[len] = '\0';
	end = text + len;
	while (end > text && end[-1] == '\n')
		*--end = '\0';
	start = strrchr(text, '\n');
	snprintf(line, size, "%.*s", (int)size - 1, start ? start + 1 : text);
}

int kmod_load(const char *name, struct err *err)
{
	char reason[160];
	int words[2], status;
	pid_t pid;

	if (!sys_exists(NULL, "/proc/modules"))
		return err_unsupported(err, -ENOSYS, "use a kernel with CONFIG_MODULES",
				       "this kernel cannot load modules");
	if (pipe2(words, O_CLOEXEC))
		return err_set(err, -errno, "cannot create a pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		run_modprobe(name, words[1]);
	close(words[1]);
	if (pid < 0) {
		close(words[0]);
		return err_set(err, -errno, "cannot run modprobe: %s", strerror(errno));
	}
	last_line(words[0], reason, sizeof(reason));
	close(words[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_unsupported(err, -ENOENT, "install kmod, or load the module with insmod",
				       "modprobe is missing, so module %s cannot be loaded", name);
	return err_unsupported(err, -ENOENT,
			       "install the module (packaged for DKMS) and run as root",
			       "module %s is not loaded and modprobe failed: %s", name, reason);
}

int kmod_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}
