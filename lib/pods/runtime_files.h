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

/* Returns the format of the files in directory @place, an index below RUNTIME_NR_PLACES. */
enum runtime_format runtime_files_format(unsigned int place);

/* Opens and watches the directories that exist below @root. Returns 0 or -ENOMEM. */
int runtime_files_open(const char *root, struct runtime_files **ret_files);
/* @files may be NULL. */
void runtime_files_close(struct runtime_files *files);

/*
 * Callback with the file of container @id, or with a list of containers and a NULL @id. The callee
 * closes @fd. If container @id was removed, @fd is -1.
 */
typedef void (*runtime_file_fn)(void *arg, unsigned int place, const char *id, int fd);

/*
 * The first call of runtime_files_step() calls @found for all files that exist. Each later call of
 * runtime_files_step() calls @found for changed files. runtime_files_step() never blocks.
 */
void runtime_files_step(struct runtime_files *files, runtime_file_fn found, void *arg);
/* Waits for a change or the next rescan. Returns false if @channel was closed. */
bool runtime_files_wait(const struct runtime_files *files, int channel);
/* True if a directory of a runtime exists. */
bool runtime_files_present(const struct runtime_files *files);

/* An open file, which the privileged helper process sends to the exporter. */
struct runtime_message {
	/* directory of the file; RUNTIME_NR_PLACES: all files of the start were sent */
	unsigned int place;
	char id[RUNTIME_ID_LEN + 1]; /* id of the container; "" for a list of containers */
	/* Open file, owned by the receiver of the message; -1 if the container was removed. */
	int fd;
};

/* Sends a message; blocks while the socket is full. -EPIPE: the receiver closed it. */
int runtime_channel_send(int channel, unsigned int place, const char *id, int fd);
/* Returns -EAGAIN without a message, -EPIPE after the end, -EBADMSG if it is invalid. */
int runtime_channel_receive(int channel, struct runtime_message *ret_message);

#endif
