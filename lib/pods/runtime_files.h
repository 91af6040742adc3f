/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files in which container runtimes keep names: finds, opens and passes them on. */
#ifndef SUBTICK_PODS_RUNTIME_FILES_H
#define SUBTICK_PODS_RUNTIME_FILES_H

#include <stdint.h>

#include "pods/runtime_name.h"

enum {
	RUNTIME_ID_LEN = 64,
	RUNTIME_NR_PLACES = 5,
};

struct runtime_files;

/* Format of the files at @place. */
enum runtime_format runtime_files_format(unsigned int place);

/*
 * Opens the directories below @root (NULL: the machine's own) and watches them. A machine without
 * any of them is no error. 0 or -ENOMEM.
 */
int runtime_files_open(const char *root, struct runtime_files **ret_files);
/* NULL is fine. */
void runtime_files_close(struct runtime_files *files);

/*
 * Called with the file of container @id, or with the list of a place, whose @id is NULL; it owns
 * @fd. -1: that container is gone.
 */
typedef void (*runtime_file_fn)(void *arg, unsigned int place, const char *id, int fd);

/* Reports all files at the first call, later the changed ones. Never blocks. */
void runtime_files_step(struct runtime_files *files, runtime_file_fn found, void *arg);
/* Waits for a change or the next rescan. False if @channel was closed. */
bool runtime_files_wait(const struct runtime_files *files, int channel);
/* True if a directory of a runtime exists. */
bool runtime_files_present(const struct runtime_files *files);

/* An open file, sent by the privileged helper to the exporter. */
struct runtime_message {
	unsigned int place; /* RUNTIME_NR_PLACES: everything that was there at the start was sent */
	char id[RUNTIME_ID_LEN + 1]; /* "" of a list */
	int fd;			     /* the receiver's; -1: that container is gone */
};

/* Waits for room. 0 or -errno: -EPIPE if nobody will receive. */
int runtime_channel_send(int channel, unsigned int place, const char *id, int fd);
/* 0, -EAGAIN if there is nothing, -EPIPE if there will be nothing, -EBADMSG. */
int runtime_channel_receive(int channel, struct runtime_message *ret_message);

#endif
