/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and opens the files of container runtimes, and sends the open files to another process. */
#ifndef SUBTICK_PODS_RUNTIME_FILES_H
#define SUBTICK_PODS_RUNTIME_FILES_H

#include <stdint.h>

#include "pods/runtime_name.h"

enum {
	RUNTIME_ID_LEN = 64,
	RUNTIME_NR_PLACES = 5,
};

struct runtime_files;

/* Returns the format of the files in directory @place, a number below RUNTIME_NR_PLACES. */
enum runtime_format runtime_files_format(unsigned int place);

/* Opens and watches the existing directories of runtimes below @root. Returns 0 or -ENOMEM. */
int runtime_files_open(const char *root, struct runtime_files **ret_files);
/* @files may be NULL. */
void runtime_files_close(struct runtime_files *files);

/*
 * Callback with the file of container @id, or with a list of containers and a NULL @id. The callee
 * closes @fd. If container @id was removed, @fd is -1.
 */
typedef void (*runtime_file_fn)(void *arg, unsigned int place, const char *id, int fd);

/* Calls @found for all files at the first call, and later for changed files. Never blocks. */
void runtime_files_step(struct runtime_files *files, runtime_file_fn found, void *arg);
/*
 * Waits until a directory of a container runtime changes or the next rescan is due. Returns false
 * if @channel was closed.
 */
bool runtime_files_wait(const struct runtime_files *files, int channel);
/* True if a directory of a runtime exists. */
bool runtime_files_present(const struct runtime_files *files);

/* An open file, which the privileged helper process sends to the exporter. */
struct runtime_message {
	/*
	 * Number of the directory that contains the file. RUNTIME_NR_PLACES in a message without a
	 * file means that all files that existed at the start were sent.
	 */
	unsigned int place;
	char id[RUNTIME_ID_LEN + 1]; /* id of the container; "" for a list of containers */
	/* Open file, owned by the receiver of the message; -1 if the container was removed. */
	int fd;
};

/* Sends a message; blocks while the socket is full. -EPIPE: the receiver closed the socket. */
int runtime_channel_send(int channel, unsigned int place, const char *id, int fd);
/*
 * Returns -EAGAIN if there is no message, -EPIPE if the sender closed the socket, -EBADMSG for an
 * invalid message.
 */
int runtime_channel_receive(int channel, struct runtime_message *ret_message);

#endif
